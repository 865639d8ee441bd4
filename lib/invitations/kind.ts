import { defineContentKind } from '../content/kind.ts';
import { renameRecords } from '../content/rename.ts';
import type { RemovedUsers } from '../content/rules/removedUsers.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { inParallel } from '../shared/inParallel.ts';
import { pages } from '../table/pages.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { remove, replace, type Table } from '../table/table.ts';
import { InvitationEntity } from './entities.ts';
import { eraseFromInvitation } from './rules.ts';

const PAGE = 1_000;
const PARALLEL_WRITES = 8;

export const invitationKind = defineContentKind({
  name: 'invitation',
  // Invitations have listings of their own, which everyone with the API key can read.
  ids: 'none',
  involve: 'none',
  locate: 'none',
  // Reads all invitations of the organization.
  rename: [renameRecords(InvitationEntity)],
  hint: 'none',
  // Folders have invitations too, so `purgeResource` purges them.
  purge: 'none',
  // A removed user can still be invited.
  remove: 'none',
  erase: { entities: [InvitationEntity], removeUsers: eraseInvitations },
});

async function eraseInvitations(
  table: Table,
  scope: OrganizationScope,
  erased: RemovedUsers & { readonly recipients?: ReadonlySet<string> | undefined },
  from: string | undefined,
  { clock, deadline }: PurgeBudget,
): Promise<{ readonly after: string } | 'done'> {
  const read = (after = from) => table.query(InvitationEntity, scope, { limit: PAGE, after });
  for await (const { values, next } of pages(read)) {
    const affected = values.filter((invitation) => eraseFromInvitation(invitation, erased) !== invitation);
    await inParallel(affected, PARALLEL_WRITES, (listed) =>
      retryOnConflict(async () => {
        const key = { ...scope, ...listed };
        const stored = await table.get(InvitationEntity, key);
        const left = stored && eraseFromInvitation(stored, erased);
        if (!stored || left === stored) return 'done';
        return table.tryWrite([
          left ? replace(InvitationEntity, { ...key, ...left }, stored._r) : remove(InvitationEntity, key, stored._r),
        ]);
      }),
    );
    if (next !== undefined && clock() > deadline) return { after: next };
  }
  return 'done';
}
