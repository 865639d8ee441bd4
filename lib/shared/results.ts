import * as z from 'zod';
import { dict } from './collections.ts';
import { defineNamedSchema, defineSchema } from './schema.ts';

export const outcomeFields = /* @__PURE__ */ defineSchema(() => ({
  success: z.boolean().describe('Whether the call did its work for this item.'),
  message: z.string().describe('What was done, or why the item failed, as a sentence for people.'),
}));
export const Succeeded = /* @__PURE__ */ defineSchema(() =>
  z.object({ success: z.boolean().describe('Always true.') }).describe('That the call took effect.'),
);

export const Done = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      success: z.literal(true).describe('Always true.'),
      message: z.string().describe('The `message` of the result.'),
    })
    .describe('That everything was stored.'),
);

export const ItemResult = /* @__PURE__ */ defineNamedSchema('ItemResult', () =>
  z
    .object({
      ...outcomeFields,
      id: z
        .string()
        .describe(
          'Usually the internal id that the service gave the item. Empty if the item failed and its id is not known.',
        ),
    })
    .describe('The result for one item of a call. Items can fail in a call that succeeds.'),
);
export type ItemResult = z.output<typeof ItemResult>;

const documentErrorCodes = ['already-exists', 'not-found', 'internal'] as const;

export const DocumentResult = /* @__PURE__ */ defineNamedSchema('DocumentResult', () =>
  ItemResult.extend({
    id: z
      .string()
      .describe('The internal id that the service gave the document. The id that you sent if the document failed.'),
    code: z
      .enum(documentErrorCodes)
      .optional()
      .describe(
        'Why the document failed: it exists already, it does not exist, or another reason that `message` names (`internal`).',
      ),
  }).describe('The result for one document of a call. Documents can fail in a call that succeeds.'),
);
export type DocumentResult = z.output<typeof DocumentResult>;

export function failedDocument(
  documentId: string,
  message: string,
  code: (typeof documentErrorCodes)[number],
): DocumentResult {
  return { success: false, id: documentId, message, code };
}

export const DocumentResults = /* @__PURE__ */ defineSchema(() =>
  z.object({
    data: z.record(z.string(), DocumentResult).describe('The result for each document, by the id that you chose.'),
  }),
);

export const ItemResults = /* @__PURE__ */ defineSchema(() =>
  z.object({ data: z.record(z.string(), ItemResult).describe('The result for each item, by its id.') }),
);

export const ItemOutcome = /* @__PURE__ */ defineNamedSchema('ItemOutcome', () =>
  z
    .object(outcomeFields)
    .describe('The result for one item of a call, by its id. Items can fail in a call that succeeds.'),
);
export type ItemOutcome = z.output<typeof ItemOutcome>;

const AnnotationResult = /* @__PURE__ */ defineNamedSchema('AnnotationResult', () =>
  z
    .object({
      success: z.boolean().describe('Whether the reaction or recording was added.'),
      annotationId: z.string().describe('The reaction or recording, by your id or the one that the service chose.'),
      message: z.string().describe('Why it was not added, or that it was.'),
    })
    .describe('The result for one reaction or recording of a call.'),
);
export type AnnotationResult = z.output<typeof AnnotationResult>;

export const AnnotationResults = /* @__PURE__ */ defineSchema(() =>
  z.object({ data: z.record(z.string(), AnnotationResult).describe('The result for each item, by its id.') }),
);

export function failedAnnotation(annotationId: string, message: string): AnnotationResult {
  return { success: false, annotationId, message };
}

const GroupResult = /* @__PURE__ */ defineNamedSchema('UserGroupResult', () =>
  z
    .object({ ...outcomeFields, organizationUserGroupId: z.string() })
    .describe('The result for one user of a call that changes a user group.'),
);

export const GroupResults = /* @__PURE__ */ defineSchema(() =>
  z.object({ data: z.record(z.string(), GroupResult).describe('The result for each user, by user id.') }),
);

export function byId<R>(ids: readonly string[], results: readonly R[]): Record<string, R> {
  return dict(ids.map((id, index) => [id, results[index] as R] as const));
}

export function byIdOf<T, R>(items: readonly T[], idOf: (item: T) => string, results: readonly R[]): Record<string, R> {
  return byId(items.map(idOf), results);
}

export function toItemResults<I extends string | number, R extends ItemOutcome>(
  results: readonly R[],
  idOf: (result: R) => I,
): Record<string, { success: boolean; id: I; message: string }> {
  return dict(
    results.map((result) => {
      const { success, message } = result;
      return [String(idOf(result)), { success, id: idOf(result), message }] as const;
    }),
  );
}

export function toGroupResults(
  organizationUserGroupId: string,
  userIds: readonly string[],
  outcomes: readonly ItemOutcome[],
): z.output<typeof GroupResults> {
  return {
    data: byId(
      userIds,
      outcomes.map((outcome) => ({ ...outcome, organizationUserGroupId })),
    ),
  };
}

interface Batch {
  readonly data: Readonly<Record<string, { readonly success: boolean }>>;
  readonly hasMore?: boolean;
}

/**
 * Returns for example "No organization was added." if all items failed, otherwise `succeeded`, by default
 * "Organization(s) added successfully.".
 */
export function batchMessage<T extends Batch, I>(
  noun: string,
  verb: string,
  succeeded:
    | string
    | ((output: T, input: I) => string) = `${noun.charAt(0).toUpperCase()}${noun.slice(1)}(s) ${verb} successfully.`,
): (output: T, input: I) => string {
  return (output, input) => {
    const results = Object.values(output.data);
    if (results.length === 0 || results.some(({ success }) => success))
      return typeof succeeded === 'string' ? succeeded : succeeded(output, input);
    const more = output.hasMore ? ' There are more: send the request again.' : '';
    return `No ${noun} was ${verb}.${more}`;
  };
}
