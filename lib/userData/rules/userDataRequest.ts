import * as z from 'zod';
import { invalid } from '../../shared/errors.ts';
import { nearName } from '../../shared/nearName.ts';
import { Id, optional, PageToken, withFurtherFields, withRefusal, withServiceFields } from '../../shared/schema.ts';
import { unknownFieldIssue } from '../../shared/unknownFields.ts';

const NO_OWN_IDS = 'must be left out: this service has no user ids of its own. Send userId';

/** Two more fields begin with the name of the service, such as `svcUserIds`. `requireUser` checks them. */
export const UserDataRequest = withRefusal(
  withFurtherFields(
    withServiceFields(
      z.looseObject({
        organizationId: optional(Id).describe(
          'Required, unless the call reads all organizations: the organization whose data is read.',
        ),
        userId: Id,
        uniqueId: optional(Id).describe('A text of your own that the answer repeats.'),
        pageToken: optional(PageToken),
      }),
      {
        AllOrganizations: optional(z.boolean()).describe(
          'True reads all organizations, one after the other, instead of `organizationId`. By default false.',
        ),
      },
    ),
    (name) => /.(UserIds|AllOrganizations)$/.test(name),
  ),
  { field: '<service name>UserIds', values: 'any', message: NO_OWN_IDS },
);

export function allOrganizationsField(service: string): string {
  return `${service}AllOrganizations`;
}

/**
 * Throws INVALID_ARGUMENT, for example for a missing organization, and for fields that are unknown or contradict each
 * other.
 */
export function requireUser(
  input: z.output<typeof UserDataRequest>,
  service: string,
): { userId: string; isEverywhere: boolean } {
  const [userIds, all] = [`${service}UserIds`, allOrganizationsField(service)];
  const refuse = (field: string, code: string, message: string) =>
    invalid({ path: [field], code, message: `${field} ${message}` });
  const declared = [...Object.keys(UserDataRequest.shape), userIds, all];
  const unknown = Object.keys(input).find((name) => !declared.includes(name));
  if (unknown !== undefined) {
    const near = nearName(unknown, declared);
    throw invalid(unknownFieldIssue([unknown], near === undefined ? undefined : [near]));
  }
  if ((input[userIds] ?? undefined) !== undefined) throw refuse(userIds, 'no_effect', NO_OWN_IDS);
  const isEverywhere = input[all] ?? false;
  if (typeof isEverywhere !== 'boolean') throw refuse(all, 'invalid_type', 'must be a boolean');
  if (isEverywhere && input.organizationId !== undefined)
    throw refuse(all, 'custom', 'must not be given together with organizationId');
  if (!isEverywhere && input.organizationId === undefined)
    throw refuse('organizationId', 'invalid_type', 'is required');
  return { userId: input.userId, isEverywhere };
}
