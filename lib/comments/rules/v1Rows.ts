import * as z from 'zod';
import { iso } from '../../shared/isoTime.ts';
import { IsoTime } from '../../shared/schema.ts';
import { CommentResponse } from './comments.ts';
import { StoredUser } from '../../content/rules/user.ts';

/** A comment as `/v1` shows it. */
export const V1Comment = CommentResponse.pick({
  commentId: true,
  commentText: true,
  commentHtml: true,
  from: true,
  lastUpdated: true,
  status: true,
  type: true,
});

/** A thread as `/v1` shows it. */
export const V1Thread = z.object({
  annotationId: z.string(),
  comments: z.array(V1Comment),
  from: StoredUser,
  /** That of its author's profile. */
  color: z.string().optional(),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** ISO 8601. */
  lastUpdated: IsoTime,
  status: z.record(z.string(), z.unknown()),
});

/** The comment of a row as `/v1` shows it; null for an id that nobody has. */
export function toV1Comment(row: z.output<typeof V1Comment> | null): z.output<typeof V1Comment> | null {
  return row && V1Comment.parse(row);
}

type ThreadRow = Omit<z.output<typeof V1Thread>, 'color' | 'lastUpdated'> & { readonly lastUpdated: number };

/** The thread of a row as `/v1` shows it; null for an id that nobody has. */
export function toV1Thread(row: ThreadRow | null): z.output<typeof V1Thread> | null {
  return row && V1Thread.parse({ ...row, color: row.from.color, lastUpdated: iso(row.lastUpdated) });
}
