import {
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandOutput,
  type Tool,
} from '@aws-sdk/client-bedrock-runtime';
import type { Capability } from '../app/capability.ts';
import { type BedrockClient, defaultRetries, nameOfError, openBedrock, retryCall, type RetryPolicy } from './client.ts';
import type { CallFailure, ModelAnswer, Provider, Question } from './rules.ts';

/** The answers to several questions, in the order of the questions. */
export interface ModelAnswers {
  readonly answers: readonly ModelAnswer[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Names of errors and stop reasons, each once. They contain no text of the file. */
  readonly problems: readonly string[];
}

interface CallResult {
  readonly answer: ModelAnswer;
  readonly output?: ConverseCommandOutput;
  readonly problem?: string;
}

/** The names of errors after which another attempt can succeed. */
const retryable: ReadonlySet<string> = new Set([
  'ThrottlingException',
  'ServiceUnavailableException',
  'InternalServerException',
  'ModelNotReadyException',
  'ModelErrorException',
]);

/** The failure for each error name. Errors with other names mean `busy`. */
const failures: ReadonlyMap<string, CallFailure> = new Map([
  ['AbortError', 'late'],
  ['TimeoutError', 'late'],
  ['ModelTimeoutException', 'late'],
  ['AccessDeniedException', 'forbidden'],
  ['ResourceNotFoundException', 'forbidden'],
  ['UnrecognizedClientException', 'forbidden'],
  ['ServiceQuotaExceededException', 'forbidden'],
  ['ValidationException', 'refused'],
]);

/** A model that is called through Bedrock's Converse API, which is the same for all providers. */
export class ConverseModel {
  readonly provider: Provider;
  readonly #modelId: string;
  readonly #client: BedrockClient;
  readonly #retries: RetryPolicy;

  constructor(provider: Provider, modelId: string, client: BedrockClient, retries = defaultRetries) {
    this.provider = provider;
    this.#modelId = modelId;
    this.#client = client;
    this.#retries = retries;
  }

  /**
   * Sends all questions in parallel and waits for the answers, but not beyond `deadline` (epoch ms). Never throws. A
   * question that failed has an answer with the outcome `failed`.
   */
  async ask(questions: readonly Question[], deadline: number): Promise<ModelAnswers> {
    const results = await Promise.all(questions.map((question) => this.#askOne(question, deadline)));
    const usage = results.map(({ output }) => output?.usage);
    return {
      answers: results.map(({ answer }) => answer),
      inputTokens: usage.reduce((sum, tokens) => sum + (tokens?.inputTokens ?? 0), 0),
      outputTokens: usage.reduce((sum, tokens) => sum + (tokens?.outputTokens ?? 0), 0),
      problems: [...new Set(results.flatMap(({ problem = [] }) => problem))],
    };
  }

  async #askOne(question: Question, deadline: number): Promise<CallResult> {
    try {
      const output = await retryCall(
        () => {
          const abortSignal = AbortSignal.timeout(Math.max(1, deadline - Date.now()));
          const command = new ConverseCommand({ modelId: this.#modelId, ...toRequest(question, this.provider) });
          return this.#client.send(command, { abortSignal });
        },
        this.#retries,
        deadline,
        (error) => retryable.has(nameOfError(error)),
      );
      const { stopReason = 'no reason given' } = output;
      return { answer: toAnswer(output, question), output, ...(stopReason !== 'tool_use' && { problem: stopReason }) };
    } catch (error) {
      const problem = nameOfError(error);
      return { answer: { outcome: 'failed', why: failures.get(problem) ?? 'busy' }, problem };
    }
  }
}

/**
 * Returns the request of a question. Newer Claude models reject each request that has a temperature or forces a tool.
 * So only Nova gets both, as AWS recommends. For Claude, the text of the question says that the tool must be called.
 */
function toRequest({ system, task, file, tool, maxTokens }: Question, provider: Provider) {
  // The document name is sent to the model. The caller's file name is not used, because it could contain instructions.
  const content: ContentBlock =
    'pdf' in file ? { document: { format: 'pdf', name: 'file', source: { bytes: file.pdf } } } : { text: file.text };
  const { name, description, schema } = tool;
  const isNova = provider === 'nova';
  return {
    system: [{ text: system }],
    messages: [{ role: 'user' as const, content: [content, { text: task }] }],
    inferenceConfig: { maxTokens, ...(isNova && { temperature: 0 }) },
    toolConfig: {
      tools: [{ toolSpec: { name, description, inputSchema: { json: schema } } } as Tool],
      ...(isNova && { toolChoice: { tool: { name } } }),
    },
  };
}

function toAnswer({ output, stopReason }: ConverseCommandOutput, { tool }: Question): ModelAnswer {
  const stopped: string = stopReason ?? 'no reason given';
  const content = output?.message?.content ?? [];
  const inputs = content.flatMap(({ toolUse }) => (toolUse?.name === tool.name ? [toolUse.input] : []));
  const isBlocked = /^(guardrail_intervened$|content_filtered$|malformed_)/.test(stopped);
  if (inputs.length === 0 || isBlocked) return { outcome: 'nothing', stopped };
  const cutOff = stopped === 'max_tokens' || stopped === 'model_context_window_exceeded';
  return { outcome: 'answered', inputs, cutOff };
}

/**
 * Returns the model of a provider. Without a provider, returns the first configured model. Returns undefined if no such
 * model is configured.
 */
export type FindModel = (provider: Provider | undefined) => ConverseModel | undefined;

export const findFileModel: Capability<FindModel> = {
  grants: [
    { resource: 'model/claude', actions: ['InvokeModel'] },
    { resource: 'model/nova', actions: ['InvokeModel'] },
  ],
  env: ['CLAUDE_MODEL_ID', 'NOVA_MODEL_ID'],
  open: ({ CLAUDE_MODEL_ID: claude, NOVA_MODEL_ID: nova }) => {
    const modelIds = { claude, nova };
    return (provider = claude ? 'claude' : 'nova') => {
      const modelId = modelIds[provider];
      return modelId ? new ConverseModel(provider, modelId, openBedrock()) : undefined;
    };
  },
};
