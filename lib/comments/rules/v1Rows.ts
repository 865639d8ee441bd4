import * as z from 'zod';
import { StoredUser } from '../../content/rules/contentUser.ts';
import { isoTime } from '../../shared/isoTime.ts';
import { AnyObject, defineNamedSchema, IsoTime } from '../../shared/schema.ts';
import { CommentResponse } from './commentResponses.ts';

export const V1Comment = /* @__PURE__ */ defineNamedSchema('V1Comment', () =>
  CommentResponse.pick({
    commentId: true,
    commentText: true,
    commentHtml: true,
    from: true,
    lastUpdated: true,
    status: true,
    type: true,
  }).describe('A comment of a thread, with fewer fields than in `/v2`.'),
);

export const V1CommentOrNull = /* @__PURE__ */ defineNamedSchema('V1CommentOrNull', () =>
  V1Comment.nullable().describe('A comment, or null for an unknown id.'),
);

export const V1Thread = /* @__PURE__ */ defineNamedSchema('V1CommentAnnotation', () =>
  z
    .object({
      annotationId: z.string(),
      comments: z.array(V1Comment).describe('Comments of the thread, about 1 MB.'),
      from: StoredUser.describe('The author of the first comment.'),
      color: z.string().describe('The colour of the author.').optional(),
      createdAt: z.number().describe('When the thread was started, in epoch milliseconds.'),
      lastUpdated: IsoTime.describe('When the thread last changed, in ISO 8601.'),
      status: AnyObject.describe('The status with its `id`, `name`, `type` and your own fields.'),
    })
    .describe('A comment thread with comments, with fewer fields than in `/v2`.'),
);

export const V1ThreadOrNull = /* @__PURE__ */ defineNamedSchema('V1CommentAnnotationOrNull', () =>
  V1Thread.nullable().describe('A comment thread, or null for an unknown id.'),
);

type V2Thread = Omit<z.output<typeof V1Thread>, 'color' | 'lastUpdated'> & { readonly lastUpdated: number };

export function toV1Comment(row: z.output<typeof V1Comment> | null): z.output<typeof V1Comment> | null {
  return row && V1Comment.parse(row);
}

export function toV1Thread(row: V2Thread | null): z.output<typeof V1Thread> | null {
  return row && V1Thread.parse({ ...row, color: row.from.color, lastUpdated: isoTime(row.lastUpdated) });
}
