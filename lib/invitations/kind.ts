import { defineContentKind } from '../content/kind.ts';
import { renameRecords } from '../content/rename.ts';
import { changeInOrganization } from '../content/userRemoval.ts';
import { InvitationEntity } from './entities.ts';
import { eraseFromInvitation } from './rules.ts';

export const invitationKind = defineContentKind({
  name: 'invitation',
  // Invitations have listings of their own, which everyone with the API key can read.
  ids: 'none',
  involve: 'none',
  locate: 'none',
  // Reads all invitations of the organization.
  rename: [
    renameRecords(InvitationEntity, { isOf: ({ resourceKey }, { documentKey }) => resourceKey === documentKey }),
  ],
  hint: 'none',
  // Folders have invitations too, so `purgeResource` purges them.
  purge: 'none',
  // A removed user can still be invited.
  remove: 'none',
  erase: {
    entities: [InvitationEntity],
    removeUsers: (table, scope, erased, from, budget) =>
      changeInOrganization(table, InvitationEntity, scope, { from, ...budget }, (invitation) =>
        eraseFromInvitation(invitation, erased),
      ),
  },
});
