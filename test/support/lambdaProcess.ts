import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { FunctionModel } from '../../infra/local/assembly/functionModel.ts';
import { REGION } from '../../infra/local/iam/identity.ts';
import { RuntimeApi } from './runtimeApi.ts';

export interface LambdaProcessOptions {
  /** The path of AWS's runtime client. */
  readonly client: string;
  readonly model: FunctionModel;
  /** Variables besides those of the template: credentials, and the URLs of AWS services on this machine. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * A process of a deployed function, as Lambda starts it: AWS's runtime client loads the bundle. The environment has the variables
 * of the template, those of Lambda and `variables`, and nothing else.
 */
export class LambdaProcess {
  /** From the start of the process until it asks for an invocation. */
  initMilliseconds = 0;
  readonly #api: RuntimeApi;
  readonly #process: ChildProcess;
  readonly #model: FunctionModel;
  readonly #ended: Promise<unknown>;
  #log = '';

  private constructor(api: RuntimeApi, { client, model, variables }: LambdaProcessOptions) {
    this.#api = api;
    this.#model = model;
    this.#process = spawn(process.execPath, [client], {
      cwd: model.codeDir,
      env: { ...model.environment, ...lambdaVariables(model, api.address), ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = once(this.#process, 'close');
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#log += text));
    void this.#ended.then(() => api.fail(`The process of ${model.name} ended:\n${this.#log}`));
  }

  /** Starts a process and waits until the function is loaded. */
  static async start(options: LambdaProcessOptions): Promise<LambdaProcess> {
    const api = await RuntimeApi.listen(options.model.arn);
    const begin = performance.now();
    const started = new LambdaProcess(api, options);
    try {
      await api.started;
    } catch (error) {
      await started.stop();
      throw error;
    }
    started.initMilliseconds = performance.now() - begin;
    return started;
  }

  /** Whether the process has ended or ends, for example at a time-out. */
  get hasEnded(): boolean {
    return this.#process.killed || this.#process.exitCode !== null;
  }

  /** What the function has printed. */
  get log(): string {
    return this.#log;
  }

  /** Calls the function, and ends its process at the time-out of the template, as Lambda does. */
  async invoke(event: unknown, timeoutMilliseconds = this.#model.timeoutSeconds * 1_000): Promise<unknown> {
    const timer = setTimeout(() => {
      this.#api.fail(`Task timed out after ${(timeoutMilliseconds / 1_000).toFixed(2)} seconds`);
      this.#process.kill('SIGKILL');
    }, timeoutMilliseconds);
    try {
      return await this.#api.invoke(event, Date.now() + timeoutMilliseconds);
    } finally {
      clearTimeout(timer);
    }
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#ended;
    this.#api.close();
  }
}

/** The variables that Lambda sets: https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html */
function lambdaVariables({ name, handler, memoryMb, codeDir }: FunctionModel, api: string): Record<string, string> {
  return {
    _HANDLER: handler,
    AWS_DEFAULT_REGION: REGION,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: '2026/01/01/[$LATEST]0123456789abcdef0123456789abcdef',
    AWS_LAMBDA_RUNTIME_API: api,
    AWS_REGION: REGION,
    AWS_SESSION_TOKEN: 'session',
    LAMBDA_RUNTIME_DIR: '/var/runtime',
    LAMBDA_TASK_ROOT: codeDir,
    LANG: 'en_US.UTF-8',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TZ: ':UTC',
  };
}
