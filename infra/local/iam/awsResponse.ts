import type { ServerResponse } from 'node:http';

/** Answers with JSON as AWS's services do. */
export function send(response: ServerResponse, status: number, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1', 'content-length': body.length }).end(body);
}

/** Answers with an error in the shape of AWS's JSON protocols. */
export function refuse(response: ServerResponse, status: number, type: string, message: string): void {
  send(response, status, { __type: `com.amazon.coral.service#${type}`, message });
}
