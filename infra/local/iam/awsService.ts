export interface Access {
  readonly action: string;
  readonly resource: string;
}

export interface AwsCall {
  readonly operation: string;
  readonly input: Record<string, unknown>;
  readonly body: string;
  /** Nobody reads the answer of an aborted call. */
  readonly isAborted: () => boolean;
}

export interface AwsAnswer {
  readonly status: number;
  readonly body: string;
}

export interface Service {
  /** Returns the permissions that a call needs. */
  accesses(operation: string, input: Record<string, unknown>): Access[];
  answer(call: AwsCall): AwsAnswer | Promise<AwsAnswer>;
}

/** A call that a function's thread sends as a message. */
export interface ThreadCall {
  /** Tells which server of the AWS endpoint the function calls. */
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly target: string;
  readonly body: string;
}

export function jsonAnswer(value: unknown): AwsAnswer {
  return { status: 200, body: JSON.stringify(value) };
}

export function errorAnswer(status: number, type: string, message: string): AwsAnswer {
  return { status, body: JSON.stringify({ __type: `com.amazon.coral.service#${type}`, message }) };
}
