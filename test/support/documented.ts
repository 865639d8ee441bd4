import { expect } from '@jest/globals';
import * as z from 'zod';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import {
  type DocumentedResponse,
  type JsonSchema,
  type OpenApiDocument,
  openApiDocument,
} from '../../lib/openapi/document.ts';
import type { webhooks } from '../../lib/openapi/webhooks.ts';
import type { Response } from './requests.ts';

/** Returns the OpenAPI document of endpoints, as tests use it. By default it has no webhooks. They take much CPU time. */
export function documentOf(
  endpoints: readonly Endpoint[],
  makeWebhooks: typeof webhooks = () => ({}),
): OpenApiDocument {
  return openApiDocument(endpoints, { serviceName: 'svc', url: 'https://api.test', version: '1.0.0' }, makeWebhooks);
}

/** Any value but null. zod does not read `not`. */
const notNull = { type: ['array', 'boolean', 'number', 'object', 'string'] };

/** Returns functions that compare values and answers with an OpenAPI document. */
export function checksOf(document: OpenApiDocument) {
  const checkers = { closed: new WeakMap<JsonSchema, z.ZodType>(), open: new WeakMap<JsonSchema, z.ZodType>() };

  /** Returns the component of the document to which a `$ref` points. */

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the type of the component
  function resolveReference<T>($ref: string): T {
    const resolved = $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((node, name) => (node as Record<string, unknown> | undefined)?.[name], document);
    if (!$ref.startsWith('#/components/') || resolved === undefined) throw new Error(`${$ref} leads nowhere`);
    return resolved as T;
  }

  /** Returns the documented schema of `data`, as the document has it. */
  function documentedData(path: string): JsonSchema {
    return document.paths[path]!.post.requestBody.content['application/json'].schema.properties!.data as JsonSchema;
  }

  const dataSchemas = new Map(
    Object.keys(document.paths).map((path) => [path, withoutReferences(documentedData(path)) as JsonSchema]),
  );

  /** Returns the documented schema of `data`, with the components in place of the references to them. */
  function dataSchema(path: string): JsonSchema {
    return dataSchemas.get(path)!;
  }

  function withoutReferences(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(withoutReferences);
    if (typeof node !== 'object' || node === null) return node;
    if ('$ref' in node) {
      const { $ref, ...own } = node;
      return { ...(withoutReferences(resolveReference($ref as string)) as object), ...own };
    }
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withoutReferences(value)]));
  }

  /** Returns the documented response for an HTTP status code, or undefined if the document has none. */
  function documentedResponse(path: string, httpCode: number): DocumentedResponse | undefined {
    const response = document.paths[path]!.post.responses[httpCode];
    return response && '$ref' in response ? resolveReference(response.$ref) : response;
  }

  /**
   * Returns the differences between a value and a JSON Schema. With `closed`, a key that the schema does not name counts
   * as a difference, unless the schema allows any keys.
   */
  function problems(schema: JsonSchema, value: unknown, closed: 'closed' | 'open'): string[] {
    const { error } = checkerOf(schema, closed).safeParse(value);
    return error ? error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) : [];
  }

  /** Throws unless an answer matches the document. */
  function expectDocumented(endpoint: Endpoint, answer: Response): void {
    expect(undocumented(endpoint, answer)).toEqual([]);
  }

  /** Returns the differences between an answer and the document. */
  function undocumented({ path }: Endpoint, { status, body, headers }: Response): string[] {
    const response = documentedResponse(path, status);
    if (!response) return [`${path} answered ${status}, which is not documented: ${JSON.stringify(body)}`];
    const differences = problems(response.content['application/json'].schema, body, 'closed');
    return Object.hasOwn(headers, 'x-request-id') ? differences : [...differences, 'x-request-id is missing'];
  }

  function checkerOf(schema: JsonSchema, closed: 'closed' | 'open'): z.ZodType {
    const cached = checkers[closed].get(schema);
    if (cached) return cached;
    const made = z.fromJSONSchema(prepared(schema, closed) as never);
    checkers[closed].set(schema, made);
    return made;
  }

  /**
   * Returns a schema in which references are replaced by their targets. With `closed`, objects refuse keys that the
   * schema does not name.
   */
  function prepared(node: unknown, closed: 'closed' | 'open'): unknown {
    if (Array.isArray(node)) return node.map((item) => prepared(item, closed));
    if (typeof node !== 'object' || node === null) return node;
    if ('$ref' in node) return prepared(resolveReference(node.$ref as string), closed);
    // zod does not read conditions. The rules about required fields hold for each object.
    if ('then' in node) {
      const { if: _, then, ...others } = node as JsonSchema;
      return prepared({ ...others, ...(then as JsonSchema) }, closed);
    }
    // A part of such a rule has no type. It says that a field is present and not null, and nothing about other fields.
    if ('required' in node && !('type' in node)) {
      const properties = Object.fromEntries((node.required as string[]).map((name) => [name, notNull]));
      return { type: 'object', ...node, properties, additionalProperties: true };
    }
    const entries = Object.entries(node).map(([key, value]) => [key, prepared(value, closed)] as const);
    const shuts = closed === 'closed' && 'properties' in node && !('additionalProperties' in node);
    return { ...Object.fromEntries(entries), ...(shuts && { additionalProperties: false }) };
  }

  return { resolveReference, documentedData, dataSchema, documentedResponse, problems, expectDocumented, undocumented };
}
