import { REGION } from '../iam/identity.ts';
import { Connections, type Reply } from './connections.ts';

/** An example of `target` is `DynamoDB_20120810.PutItem`. Throws errors with the names of AWS errors. */
export type EngineCall = <T>(target: string, input: object) => Promise<T>;

/** The engine requires a signature but does not verify it. */
const headersOf = (accessKeyId: string) =>
  [
    'content-type: application/x-amz-json-1.0',
    'x-amz-date: 20260101T000000Z',
    `authorization: AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/${REGION}/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=none`,
    'x-amz-target: ',
  ].join('\r\n');

export class EngineConnections {
  readonly #connections: Connections;
  readonly #headers: string;

  constructor(url: string, accessKeyId = 'LOCAL') {
    this.#connections = new Connections(url);
    this.#headers = headersOf(accessKeyId);
  }

  /** `body` is a JSON text. `isAborted` as in `Connections.post`. */
  post(target: string, body: string, isAborted?: () => boolean): Promise<Reply> {
    return this.#connections.post(`${this.#headers}${target}\r\n`, body, isAborted);
  }

  /** Checks no permissions. */
  readonly call: EngineCall = async <T>(target: string, input: object) => {
    const { status, body } = await this.post(target, JSON.stringify(input));
    const answer = JSON.parse(body) as { __type?: string; message?: string; Message?: string };
    if (status === 200) return answer as T;
    const name = answer.__type?.split('#').at(-1) ?? `HTTP ${status}`;
    throw Object.assign(new Error(`${target.split('.')[1]}: ${answer.message ?? answer.Message ?? name}`), { name });
  };

  close(): void {
    this.#connections.destroy();
  }
}
