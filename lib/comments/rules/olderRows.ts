import * as z from 'zod';
import { iso } from '../../shared/isoTime.ts';
import { IsoTime } from '../../shared/schema.ts';
import { CommentResponse } from './comments.ts';
import { StoredUser } from '../../content/rules/user.ts';

/** A comment as `/v1` shows it. */
export const OlderComment = CommentResponse.pick({
  commentId: true,
  commentText: true,
  commentHtml: true,
  from: true,
  lastUpdated: true,
  status: true,
  type: true,
});

/** A thread as `/v1` shows it. */
export const OlderThread = z.object({
  annotationId: z.string(),
  comments: z.array(OlderComment),
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
export function toOlderComment(row: z.output<typeof OlderComment> | null): z.output<typeof OlderComment> | null {
  return row && OlderComment.parse(row);
}

type ThreadRow = Omit<z.output<typeof OlderThread>, 'color' | 'lastUpdated'> & { readonly lastUpdated: number };

/** The thread of a row as `/v1` shows it; null for an id that nobody has. */
export function toOlderThread(row: ThreadRow | null): z.output<typeof OlderThread> | null {
  return row && OlderThread.parse({ ...row, color: row.from.color, lastUpdated: iso(row.lastUpdated) });
}
