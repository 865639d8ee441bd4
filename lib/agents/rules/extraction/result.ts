import * as z from 'zod';
import { CreateAgent } from '../configuration.ts';

/** How many agents are made of one file. */
export const MOST_AGENTS = 200;
/** How many of the things that were skipped are listed one by one. */
export const MOST_SKIPPED = 200;
/** What the agents of an answer may have as JSON, so that every answer stays below the largest that there is. */
const AGENTS_BYTES = 3_000_000;
/** How much is shown of what was skipped, in characters. */
export const LONGEST_ORIGINAL = 500;

const Skipped = z.object({ originalText: z.string(), reason: z.string(), row: z.int().optional() });
type Skipped = z.output<typeof Skipped>;

/** What was made of a file (spec 4.13): agents as `/v2/agents/create` takes them, and what none could be made of. */
export const ExtractionResult = z.object({
  agents: z.array(z.looseObject({ name: z.string() })),
  summary: z.string(),
  skipped: z.array(Skipped),
});
export type ExtractionResult = z.output<typeof ExtractionResult>;

type Agent = ExtractionResult['agents'][number];

/** Something of a file that an agent is made of, or why not. */
export interface Candidate {
  readonly row?: number | undefined;
  /** What it was made of, or its beginning. */
  readonly text: string;
  readonly made: { readonly agent: Readonly<Record<string, unknown>> } | { readonly reason: string };
  /** How the file names a field of the agent, where it has a name of its own for it. */
  readonly titleOf?: (field: string) => string | undefined;
}

/**
 * The answer: agents are only what `/v2/agents/create` would take, none twice, as many as there is room for. Everything else is
 * skipped with its reason, or at least counted. `notes` are sentences of the summary.
 */
export function settle(candidates: readonly Candidate[], notes: readonly string[] = []): ExtractionResult {
  const agents: Agent[] = [];
  const names = new Set<string>();
  const skipped: Skipped[] = [];
  let room = AGENTS_BYTES;
  const reasonAgainst = (candidate: Candidate): string | undefined => {
    if ('reason' in candidate.made) return candidate.made.reason;
    const { agent } = candidate.made;
    const { error } = CreateAgent.safeParse(agent);
    if (error) return problems(error, candidate);
    const name = (agent as Agent).name;
    const bytes = Buffer.byteLength(JSON.stringify(agent));
    if (names.has(name.toLowerCase())) return `An agent named "${name}" was made of an earlier part of the file.`;
    if (agents.length >= MOST_AGENTS)
      return `At most ${MOST_AGENTS} agents are made of one file: send the rest as another.`;
    if (bytes > room)
      return 'The agents made of this file are too large for one answer: send the rest as another file.';
    names.add(name.toLowerCase());
    room -= bytes;
    agents.push(agent as Agent);
    return undefined;
  };
  for (const candidate of candidates) {
    const reason = reasonAgainst(candidate);
    const { row, text } = candidate;
    if (reason !== undefined)
      skipped.push({
        originalText: text.slice(0, LONGEST_ORIGINAL).toWellFormed(),
        reason,
        ...(row !== undefined && { row }),
      });
  }
  const listed =
    skipped.length > MOST_SKIPPED
      ? [...skipped.slice(0, MOST_SKIPPED - 1), theRest(skipped.slice(MOST_SKIPPED - 1))]
      : skipped;
  return {
    agents,
    summary: [
      `${counted(agents.length, 'agent')} extracted, ${counted(skipped.length, 'part')} of the file skipped.`,
      ...notes,
    ].join(' '),
    skipped: listed,
  };
}

function theRest(rest: readonly Skipped[]): Skipped {
  const [{ row, originalText }] = rest as [Skipped];
  return {
    originalText,
    reason: `This and ${counted(rest.length - 1, 'further part')} of the file were skipped and are not listed. The reason for this one: ${rest[0]!.reason}`,
    ...(row !== undefined && { row }),
  };
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** What `/v2/agents/create` has against an agent, in terms of the file. */
function problems({ issues }: z.ZodError, { titleOf = () => undefined }: Candidate): string {
  const said = issues.map(({ path, message }) => {
    const names = path.filter((part) => typeof part === 'string');
    const title = names
      .map((_part, index) => titleOf(names.slice(0, index + 1).join('.')))
      .find((found) => found !== undefined);
    return `${title === undefined ? path.join('.') : `Column "${title}"`}: ${message}`;
  });
  return said.slice(0, 5).join('; ');
}
