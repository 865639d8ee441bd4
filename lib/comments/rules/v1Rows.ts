import * as z from 'zod';
import { isoTime } from '../../shared/isoTime.ts';
import { IsoTime } from '../../shared/schema.ts';
import { CommentResponse } from './comments.ts';
import { StoredUser } from '../../content/rules/user.ts';

/** A comment in a response of `/v1`. */
export const V1Comment = CommentResponse.pick({
  commentId: true,
  commentText: true,
  commentHtml: true,
  from: true,
  lastUpdated: true,
  status: true,
  type: true,
});

/** A thread in a response of `/v1`. */
export const V1Thread = z.object({
  annotationId: z.string(),
  comments: z.array(V1Comment),
  from: StoredUser,
  /** The colour of the author. */
  color: z.string().optional(),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** ISO 8601. */
  lastUpdated: IsoTime,
  status: z.record(z.string(), z.unknown()),
});

type V2Thread = Omit<z.output<typeof V1Thread>, 'color' | 'lastUpdated'> & { readonly lastUpdated: number };

/** Returns the `/v1` form of a comment. Returns null for null, which stands for an unknown id. */
export function toV1Comment(row: z.output<typeof V1Comment> | null): z.output<typeof V1Comment> | null {
  return row && V1Comment.parse(row);
}

/** Returns the `/v1` form of a thread. Returns null for null, which stands for an unknown id. */
export function toV1Thread(row: V2Thread | null): z.output<typeof V1Thread> | null {
  return row && V1Thread.parse({ ...row, color: row.from.color, lastUpdated: isoTime(row.lastUpdated) });
}
