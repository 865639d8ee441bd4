import type { IncomingMessage, ServerResponse } from 'node:http';

/** What AWS checks before it does something: this action on this resource. */
export interface Access {
  readonly action: string;
  readonly resource: string;
}

export interface AwsCall {
  readonly operation: string;
  readonly input: Record<string, unknown>;
  /** The bytes that `input` was parsed from. */
  readonly body: Buffer;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What the local AWS endpoint does for one service. */
export interface Service {
  /** What a call needs to be allowed. */
  accesses(operation: string, input: Record<string, unknown>): Access[];
  answer(call: AwsCall): void | Promise<void>;
}
