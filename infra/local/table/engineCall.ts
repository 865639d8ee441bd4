import { REGION } from '../iam/identity.ts';

/** Calls an operation of the table engine, such as `DynamoDB_20120810.PutItem`. Throws errors with AWS's names. */
export type EngineCall = <T>(target: string, input: object) => Promise<T>;

/** Calls the engine directly, without a role. The engine requires a signature but does not check it. */
export function engineAt(port: number): EngineCall {
  return async <T>(target: string, input: object) => {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': target,
        'x-amz-date': '20260101T000000Z',
        authorization: `AWS4-HMAC-SHA256 Credential=LOCAL/20260101/${REGION}/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=none`,
      },
      body: JSON.stringify(input),
    });
    const answer = (await response.json()) as { __type?: string; message?: string; Message?: string };
    if (response.ok) return answer as T;
    const name = answer.__type?.split('#').at(-1) ?? `HTTP ${response.status}`;
    throw Object.assign(new Error(`${target.split('.')[1]}: ${answer.message ?? answer.Message ?? name}`), { name });
  };
}
