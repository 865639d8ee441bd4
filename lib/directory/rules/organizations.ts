import { defineNamedSchema, Id, Name, optional, unsupportedField, withOpenKeys } from '../../shared/schema.ts';

export const OrganizationFields = /* @__PURE__ */ defineNamedSchema('OrganizationInput', () =>
  withOpenKeys({
    organizationId: Id,
    organizationName: optional(Name).describe('The name that users see, for example in mails.'),
    // Answers have these fields of the service, so the customer's own fields need other names.
    id: unsupportedField('must be left out: answers have organizationId as id'),
    disabled: unsupportedField('must be left out: /v2/organizations/access/disablestate/update sets it'),
  }).describe('An organization. You can add fields of your own, which answers have at the same level.'),
);
