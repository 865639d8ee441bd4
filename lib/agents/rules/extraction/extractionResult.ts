import * as z from 'zod';
import { jsonBytes } from '../../../shared/bytes.ts';
import { CreateAgent } from '../configuration.ts';

export const MAX_EXTRACTED_AGENTS = 200;
export const MAX_SKIPPED = 200;
/** Bytes of all agents as JSON. Keeps answers below the limit of Lambda. */
const AGENTS_BYTES = 3_000_000;
export const ORIGINAL_CHARACTERS = 500;
const MAX_ISSUES = 5;

const SkippedPart = z.object({
  originalText: z.string().describe('The first 500 characters of the part.'),
  reason: z.string().describe('Why the part became no agent.'),
  row: z.int().optional().describe('The row of the table, from 1. The row of the titles counts.'),
});
type SkippedPart = z.output<typeof SkippedPart>;

export const ExtractionResult = z.object({
  agents: z
    .array(z.looseObject({ name: z.string().describe('What people call the agent. It is unique in the answer.') }))
    .describe('At most 200 agents. Send each to `/v2/agents/create` as it is.'),
  summary: z.string().describe('How many agents were made and parts skipped, and how the file was read.'),
  skipped: z
    .array(SkippedPart)
    .describe('The parts that became no agent. After 200, the last one says how many are left out.'),
});
export type ExtractionResult = z.output<typeof ExtractionResult>;

type ExtractedAgent = ExtractionResult['agents'][number];

/** A piece of the file, with the agent that was made from it or the reason why none was. */
export type AgentCandidate = {
  readonly row?: number | undefined;
  readonly text: string;
  /** Returns the title of the field's column. */
  readonly titleOf?: (field: string) => string | undefined;
} & ({ readonly agent: Readonly<Record<string, unknown>> } | { readonly reason: string });

/**
 * `agents` has the candidates that `/v2/agents/create` accepts, if they fit and no earlier agent has their name. The
 * others are in `skipped`, up to `MAX_SKIPPED`, each with a reason. `notes` are sentences for the summary.
 */
export function toExtractionResult(
  candidates: readonly AgentCandidate[],
  notes: readonly string[] = [],
): ExtractionResult {
  const agents: ExtractedAgent[] = [];
  const names = new Set<string>();
  const skipped: SkippedPart[] = [];
  let remainingBytes = AGENTS_BYTES;
  const add = (candidate: AgentCandidate): string | undefined => {
    if ('reason' in candidate) return candidate.reason;
    const { error } = CreateAgent.safeParse(candidate.agent);
    if (error) return describeIssues(error, candidate);
    const agent = candidate.agent as ExtractedAgent;
    const bytes = jsonBytes(agent);
    if (names.has(agent.name.toLowerCase()))
      return `An agent named "${agent.name}" was made of an earlier part of the file.`;
    if (agents.length >= MAX_EXTRACTED_AGENTS)
      return `At most ${MAX_EXTRACTED_AGENTS} agents are made of one file: send the rest as another.`;
    if (bytes > remainingBytes)
      return 'The agents made of this file are too large for one answer: send the rest as another file.';
    names.add(agent.name.toLowerCase());
    remainingBytes -= bytes;
    agents.push(agent);
    return undefined;
  };
  for (const candidate of candidates) {
    const { row, text } = candidate;
    const reason = add(candidate);
    if (reason !== undefined)
      skipped.push({
        originalText: text.slice(0, ORIGINAL_CHARACTERS).toWellFormed(),
        reason,
        ...(row !== undefined && { row }),
      });
  }
  const counts = `${plural(agents.length, 'agent')} extracted, ${plural(skipped.length, 'part')} of the file skipped.`;
  return { agents, summary: [counts, ...notes].join(' '), skipped: limitSkipped(skipped) };
}

/**
 * Above `MAX_SKIPPED` parts, the last entry says how many are not listed. This entry is the last part, which can stand
 * for all rows that were not read.
 */
function limitSkipped(skipped: readonly SkippedPart[]): SkippedPart[] {
  const last = skipped.at(-1);
  if (!last || skipped.length <= MAX_SKIPPED) return [...skipped];
  const others = plural(skipped.length - MAX_SKIPPED, 'skipped part');
  const reason = `The list lacks ${others} before this one. The reason for this one: ${last.reason}`;
  return [...skipped.slice(0, MAX_SKIPPED - 1), { ...last, reason }];
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function describeIssues({ issues }: z.ZodError, { titleOf = () => undefined }: AgentCandidate): string {
  const described = issues.map(({ path, message }) => {
    const names = path.filter((part) => typeof part === 'string');
    const title = names
      .map((_part, index) => titleOf(names.slice(0, index + 1).join('.')))
      .find((columnTitle) => columnTitle !== undefined);
    return `${title === undefined ? path.join('.') : `Column "${title}"`}: ${message}`;
  });
  return described.slice(0, MAX_ISSUES).join('; ');
}
