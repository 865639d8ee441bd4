import {
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandOutput,
  type Tool,
} from '@aws-sdk/client-bedrock-runtime';
import type { Capability } from '../app/capability.ts';
import { type BedrockClient, defaultRetries, nameOfError, openBedrock, retryCall, type RetryPolicy } from './client.ts';
import type { CallFailure, ModelAnswer, Provider, Question } from './rules.ts';

export interface ModelAnswers {
  readonly answers: readonly ModelAnswer[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Names of errors and stop reasons, each once, without text of the file. */
  readonly problems: readonly string[];
}

interface CallResult {
  readonly answer: ModelAnswer;
  readonly output?: ConverseCommandOutput;
  readonly problem?: string;
}

const retryable: ReadonlySet<string> = new Set([
  'ThrottlingException',
  'ServiceUnavailableException',
  'InternalServerException',
  'ModelNotReadyException',
  'ModelErrorException',
]);

/** Errors with other names mean `busy`. */
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
   * Sends all questions in parallel. Waits until `deadline` (epoch ms) at most. Never throws: a question that failed
   * has the outcome `failed`.
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
 * Newer Claude models reject a temperature and a forced tool, so only Nova gets both, as AWS recommends. For Claude,
 * the text of the question says that the tool must be called.
 */
function toRequest({ system, task, file, tool, maxTokens }: Question, provider: Provider) {
  // The model gets the document name. The caller's file name could contain instructions.
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

/** Without a provider, the function prefers Claude. It returns undefined if the model is not configured. */
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
