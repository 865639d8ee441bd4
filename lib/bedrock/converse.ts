import {
  type BedrockRuntimeClient,
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandOutput,
  type Tool,
} from '@aws-sdk/client-bedrock-runtime';
import type { Capability } from '../app/capability.ts';
import type { ModelAnswer, Question } from '../agents/rules/extraction/answer.ts';
import type { Provider } from '../agents/rules/extraction/request.ts';
import { openBedrock } from './client.ts';
import { pauseBefore, type Tries, usual } from './retries.ts';

/** What may be asked of one model, and what that came to. */
export interface Reader {
  readonly provider: Provider;
  /** Asks all questions at once. The answers, in the order of the questions, are there by `deadline` (epoch ms). */
  ask(questions: readonly Question[], deadline: number): Promise<Reading>;
}

export interface Reading {
  readonly answers: readonly ModelAnswer[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The names of errors and reasons for stopping, each once: what a model says can repeat the file. */
  readonly troubles: readonly string[];
}

/** The models that this service may ask; none where its operator has named none. */
export interface Readers {
  /** The model of a provider; without one the first that there is. */
  of(provider: Provider | undefined): Reader | undefined;
}

/** Asked again after these: with too many calls at once the next try is as good as the first. */
const PASSING: ReadonlySet<string> = new Set([
  'ThrottlingException',
  'ServiceUnavailableException',
  'InternalServerException',
  'ModelNotReadyException',
  'ModelErrorException',
]);
const LATE: ReadonlySet<string> = new Set(['AbortError', 'TimeoutError', 'ModelTimeoutException']);
const FORBIDDEN: ReadonlySet<string> = new Set([
  'AccessDeniedException',
  'ResourceNotFoundException',
  'UnrecognizedClientException',
  'ServiceQuotaExceededException',
]);
const REFUSED = 'ValidationException';

/** Asks one model by Bedrock's Converse, which has one form for the models of all providers. */
export class ConverseReader implements Reader {
  readonly provider: Provider;
  readonly #modelId: string;
  readonly #client: Pick<BedrockRuntimeClient, 'send'>;
  readonly #tries: Tries;

  constructor(provider: Provider, modelId: string, client: Pick<BedrockRuntimeClient, 'send'>, tries: Tries = usual) {
    this.provider = provider;
    this.#modelId = modelId;
    this.#client = client;
    this.#tries = tries;
  }

  async ask(questions: readonly Question[], deadline: number): Promise<Reading> {
    const read = await Promise.all(questions.map((question) => this.#askOne(question, deadline)));
    const sum = (tokens: 'inputTokens' | 'outputTokens') =>
      read.reduce((total, { output }) => total + (output?.usage?.[tokens] ?? 0), 0);
    return {
      answers: read.map(({ answer }) => answer),
      inputTokens: sum('inputTokens'),
      outputTokens: sum('outputTokens'),
      troubles: [...new Set(read.flatMap(({ trouble }) => (trouble === undefined ? [] : [trouble])))],
    };
  }

  async #askOne(
    question: Question,
    deadline: number,
  ): Promise<{ answer: ModelAnswer; output?: ConverseCommandOutput; trouble?: string }> {
    for (let attempt = 1; ; attempt++) {
      try {
        const abortSignal = AbortSignal.timeout(Math.max(1, deadline - Date.now()));
        const output = await this.#client.send(
          new ConverseCommand({ modelId: this.#modelId, ...conversation(question) }),
          { abortSignal },
        );
        return {
          answer: answerIn(output, question),
          output,
          ...(output.stopReason !== 'tool_use' && { trouble: output.stopReason ?? 'no reason given' }),
        };
      } catch (error) {
        const trouble = (error as { name?: string }).name ?? 'Error';
        const pause = PASSING.has(trouble) ? pauseBefore(attempt, deadline, this.#tries) : undefined;
        if (pause === undefined) return { answer: { outcome: 'failed', why: whyOf(trouble) }, trouble };
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }
}

function whyOf(trouble: string): 'busy' | 'late' | 'forbidden' | 'refused' {
  if (LATE.has(trouble)) return 'late';
  if (FORBIDDEN.has(trouble)) return 'forbidden';
  return trouble === REFUSED ? 'refused' : 'busy';
}

function conversation({ system, task, file, tool, mostTokens }: Question) {
  // The name of a document is read by the model, too: it is none of the caller's.
  const content: ContentBlock =
    'pdf' in file ? { document: { format: 'pdf', name: 'file', source: { bytes: file.pdf } } } : { text: file.text };
  const { name, description, schema } = tool;
  return {
    system: [{ text: system }],
    messages: [{ role: 'user' as const, content: [content, { text: task }] }],
    inferenceConfig: { maxTokens: mostTokens, temperature: 0 },
    toolConfig: {
      tools: [{ toolSpec: { name, description, inputSchema: { json: schema } } } as Tool],
      toolChoice: { tool: { name } },
    },
  };
}

function answerIn({ output, stopReason: stopped }: ConverseCommandOutput, { tool }: Question): ModelAnswer {
  const stopReason: string = stopped ?? 'no reason given';
  const used = output?.message?.content?.find(({ toolUse }) => toolUse?.name === tool.name)?.toolUse;
  const blocked =
    stopReason === 'guardrail_intervened' || stopReason === 'content_filtered' || stopReason.startsWith('malformed_');
  if (used === undefined || blocked) return { outcome: 'nothing', stopped: stopReason };
  return {
    outcome: 'answered',
    input: used.input,
    cutOff: stopReason === 'max_tokens' || stopReason === 'model_context_window_exceeded',
  };
}

/** Ask the models that read files. */
export const fileReaders: Capability<Readers> = {
  grants: [
    { resource: 'model/claude', actions: ['InvokeModel'] },
    { resource: 'model/nova', actions: ['InvokeModel'] },
  ],
  env: ['CLAUDE_MODEL_ID', 'NOVA_MODEL_ID'],
  open: (env) => {
    const modelIds = { claude: env.CLAUDE_MODEL_ID, nova: env.NOVA_MODEL_ID };
    return {
      of(provider) {
        const chosen = provider ?? (modelIds.claude ? 'claude' : 'nova');
        return modelIds[chosen] ? new ConverseReader(chosen, modelIds[chosen], openBedrock()) : undefined;
      },
    };
  },
};
