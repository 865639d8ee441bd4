import { routeKey } from '../../lib/app/page.ts';
import { endpoints, ExampleCustomer } from '../support/examples.ts';
import type { Response } from '../support/requests.ts';
import { httpEvent } from './events.ts';
import type { LambdaSystem } from './system.ts';

/** A customer who calls the deployed functions. The bodies of all requests have one encoding. */
export class LambdaCustomer extends ExampleCustomer {
  readonly #system: LambdaSystem;
  readonly #encoding: 'plain' | 'base64';

  constructor(system: LambdaSystem, encoding: 'plain' | 'base64') {
    super();
    this.#system = system;
    this.#encoding = encoding;
  }

  override async call(path: string, data: unknown, _headers = {}, timeoutMilliseconds?: number): Promise<Response> {
    const request = { method: 'POST', path, headers: this.headersOf(path), body: JSON.stringify({ data }) };
    const fn = this.#system.functionOfRoute(routeKey(endpoints.get(path)!));
    return toResponse(await this.#system.invoke(fn, httpEvent(request, this.#encoding), timeoutMilliseconds));
  }
}

/** Returns the answer that API Gateway would send for the result of a function in payload format 2.0. */
export function toResponse({ statusCode, headers, body = '', isBase64Encoded = false }: any): Response {
  const text = isBase64Encoded ? Buffer.from(body, 'base64').toString() : body;
  const isJson = String(headers['content-type']).startsWith('application/json');
  return { status: statusCode, headers, body: isJson && text !== '' ? JSON.parse(text) : text };
}
