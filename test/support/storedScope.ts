import { DocumentEntity } from '../../lib/directory/documents.ts';
import { OrganizationEntity } from '../../lib/directory/organizations.ts';
import { nda } from './content.ts';
import type { Customer } from './customer.ts';
import { table } from './standIn.ts';

/** Returns the tenant and the internal id of a customer's organization. The organization must exist. */
export async function storedOrganizationScope(
  { apiKey: tenant }: Customer,
  { organizationId }: { organizationId: string } = nda,
) {
  const organization = await table.get(OrganizationEntity, { tenant, organizationId });
  return { tenant, organizationKey: organization!.internalId };
}

/** Returns the tenant and the internal ids of a customer's document and its organization. Both must exist. */
export async function storedDocumentScope(
  customer: Customer,
  ids: { organizationId: string; documentId: string } = nda,
) {
  const scope = await storedOrganizationScope(customer, ids);
  const document = await table.get(DocumentEntity, { ...scope, documentId: ids.documentId });
  return { ...scope, documentKey: document!.internalId };
}
