import { defineContentKind } from '../content/kind.ts';
import { hintFor, type Written } from '../content/rules/hints.ts';
import { RECORDS_PER_PAGE, writeEachRecord } from '../content/userRemoval.ts';
import { inParallel } from '../shared/inParallel.ts';
import { pages } from '../table/pages.ts';
import { remove, replace } from '../table/table.ts';
import { viewsAfter } from './rules/readState.ts';
import { ThreadViewsEntity } from './threadViews.ts';

const PARALLEL = 8;

export const viewKind = defineContentKind({
  name: 'view',
  ids: 'none',
  involve: 'none',
  locate: 'none',
  rename: 'none',
  // The purge of threads deletes their views, because it knows which documents have none.
  purge: 'none',
  hint: {
    types: { 'comment_annotation.view': 'user' },
    written: {
      ThreadViews: (change: Written<{ userId: string }>) => ({
        ...hintFor(change, 'comment_annotation.view', {}),
        audience: { kind: 'user', userId: change.item.userId },
      }),
    },
    removed: {},
  },
  // Nobody else sees the views of a removed user.
  remove: 'none',
  erase: {
    entities: [ThreadViewsEntity],
    async erase(removal) {
      const { table, scope, removedUsers } = removal;
      await inParallel([...removedUsers.userIds], PARALLEL, async (userId) => {
        const read = (after: string | undefined) =>
          table.query(ThreadViewsEntity, scope, { prefix: [userId], limit: RECORDS_PER_PAGE, after });
        for await (const { values } of pages(read))
          await writeEachRecord(removal, values, async ({ part }) => {
            const key = { ...scope, userId, part };
            const stored = await table.get(ThreadViewsEntity, key);
            if (!stored) return [];
            const views = viewsAfter(stored.views, removedUsers.removedAt);
            return Object.keys(views).length === 0
              ? [remove(ThreadViewsEntity, key, stored._r)]
              : [replace(ThreadViewsEntity, { ...key, views }, stored._r)];
          });
      });
      return undefined;
    },
  },
});
