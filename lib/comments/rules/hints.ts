import {
  type AddressedHint,
  hintFor,
  hintForReaders,
  type KindHints,
  type ThreadPosition,
  verbsOfWritten,
  type Written,
} from '../../content/rules/hints.ts';
import type { ThreadAccess } from '../../directory/rules/visibility.ts';
import { decodePart } from '../../shared/keyParts.ts';

interface OnThread {
  readonly annotationId: string;
  readonly commentId: number;
}

interface AccessChange extends ThreadPosition {
  readonly commentId?: number;
  readonly formerAccess: string;
}

/** The hint of a deleted thread comes from its tombstone. */
export const commentHints = {
  types: {
    'comment_annotation.add': 'thread',
    'comment_annotation.update': 'thread',
    'comment_annotation.delete': 'former',
    'comment_annotation.hide': 'former',
    'comment.add': 'comment',
    'comment.update': 'comment',
    'comment.delete': 'former',
    'comment.hide': 'former',
  },
  written: {
    Thread: (change: Written<ThreadPosition>) =>
      hintForReaders(change, `comment_annotation.${verbsOfWritten[change.change]}`, {
        annotationId: change.item.annotationId,
      }),
    DeletedThread(change: Written<{ annotationId: string; access?: string }>) {
      if (change.change !== 'insert') return undefined;
      const { annotationId, access } = change.item;
      const open = hintFor(change, 'comment_annotation.delete', { annotationId });
      if (access === undefined) return open;
      return { ...open, audience: { kind: 'deletedThread', access: JSON.parse(access) as ThreadAccess } };
    },
    ThreadAccessChange(change: Written<AccessChange>): AddressedHint {
      const { annotationId, commentId, formerAccess } = change.item;
      const { hint } =
        commentId === undefined
          ? hintFor(change, 'comment_annotation.hide', { annotationId })
          : hintFor(change, 'comment.hide', { annotationId, commentId });
      return { hint, audience: { kind: 'formerReaders', formerAccess: JSON.parse(formerAccess) as ThreadAccess } };
    },
    Comment: (change: Written<OnThread>) =>
      hintForReaders(change, `comment.${verbsOfWritten[change.change]}`, {
        annotationId: change.item.annotationId,
        commentId: change.item.commentId,
      }),
  },
  removed: {
    THREADS: {
      hint(change, [createdAt = '', annotationId = '', kind, commentId]) {
        const id = decodePart(annotationId);
        if (kind !== 'COMMENT' || id === undefined) return undefined;
        const removed = {
          thread: { annotationId: id, createdAt: Date.parse(createdAt) },
          commentId: Number(commentId),
        };
        const { hint } = hintFor(change, 'comment.delete', { annotationId: id, commentId: removed.commentId });
        return { hint, audience: { kind: 'deletedComment', ...removed } };
      },
    },
  },
} as const satisfies KindHints;
