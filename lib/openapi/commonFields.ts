/**
 * What fields mean that have the same meaning in all operations. A field with another meaning has a text of its own in its schema.
 * Names of fields and their texts, in the order of the alphabet.
 */
export const commonFields: Readonly<Record<string, string>> = {
  createOrganization:
    'Whether an organization that does not exist is created. The default is false: the call is then refused.',
  documentId: 'The document, by the id that you chose. It is unique within the organization.',
  organizationId: 'The organization, by the id that you chose. All other ids of the request are looked up in it.',
  pageSize: 'The largest number of items in the answer.',
  pageToken: 'Continues a listing: the `nextPageToken` of the page before, unchanged. Leave it out for the first page.',
};
