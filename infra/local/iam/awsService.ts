/** A permission that an AWS call needs: an action on a resource. */
export interface Access {
  readonly action: string;
  readonly resource: string;
}

export interface AwsCall {
  readonly operation: string;
  readonly input: Record<string, unknown>;
  /** The JSON text from which `input` was parsed. */
  readonly body: string;
  /** Returns whether the caller has aborted the call. Nobody reads the answer then. */
  readonly isAborted: () => boolean;
}

export interface AwsAnswer {
  readonly status: number;
  /** The JSON text of the answer. */
  readonly body: string;
}

/** A service behind the local AWS endpoint. */
export interface Service {
  /** Returns the permissions that a call needs. */
  accesses(operation: string, input: Record<string, unknown>): Access[];
  /** Performs a call and returns its answer. */
  answer(call: AwsCall): AwsAnswer | Promise<AwsAnswer>;
}

/** An AWS call that a function makes. The function's thread sends it as a message, not as an HTTP request. */
export interface ThreadCall {
  /** The port to which the function sent the call. It tells which server of the AWS endpoint is called. */
  readonly port: number;
  readonly method: string;
  readonly path: string;
  /** The value of the header `x-amz-target`. */
  readonly target: string;
  readonly body: string;
}

/** Returns an answer with status 200 and a value as JSON. */
export function jsonAnswer(value: unknown): AwsAnswer {
  return { status: 200, body: JSON.stringify(value) };
}

/** Returns an error in the format of AWS's JSON protocols. */
export function errorAnswer(status: number, type: string, message: string): AwsAnswer {
  return { status, body: JSON.stringify({ __type: `com.amazon.coral.service#${type}`, message }) };
}
