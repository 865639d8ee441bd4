import type { AwsAnswer } from './awsService.ts';

/** Returns an answer with status 200 and a value as JSON. */
export function jsonAnswer(value: unknown): AwsAnswer {
  return { status: 200, body: JSON.stringify(value) };
}

/** Returns an error in the format of AWS's JSON protocols. */
export function errorAnswer(status: number, type: string, message: string): AwsAnswer {
  return { status, body: JSON.stringify({ __type: `com.amazon.coral.service#${type}`, message }) };
}
