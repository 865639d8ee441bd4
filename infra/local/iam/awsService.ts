import type { IncomingMessage, ServerResponse } from 'node:http';

/** A permission that a call needs: an action on a resource. */
export interface Access {
  readonly action: string;
  readonly resource: string;
}

export interface AwsCall {
  readonly operation: string;
  readonly input: Record<string, unknown>;
  /** The bytes from which `input` was parsed. */
  readonly body: Buffer;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A service behind the local AWS endpoint. */
export interface Service {
  /** Returns the permissions that a call needs. */
  accesses(operation: string, input: Record<string, unknown>): Access[];
  answer(call: AwsCall): void | Promise<void>;
}
