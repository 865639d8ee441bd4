/**
 * The text of a field for all operations and answers. A field with another meaning has a text of its own in its schema.
 */
export const commonFields: Readonly<Record<string, string>> = {
  accessType:
    'Who can open it without a grant: `public` all users that you have added, `organizationPrivate` the members of the organization, `restricted` nobody.',
  agentId: 'The agent, by the id that `/v2/agents/create` returned.',
  annotationId: 'The comment thread, by its id.',
  commentIds: 'The comments of the thread, by the numbers that the service gave them.',
  createDocument: 'Whether a document that does not exist is created. By default the call is refused.',
  createFolder: 'Whether a folder that does not exist is created. By default the call is refused.',
  createOrganization: 'Whether an organization that does not exist is created. By default the call is refused.',
  documentId: 'The document, by the id that you chose. It is unique within the organization.',
  documentIds: 'The documents, by the ids that you chose.',
  editorId: 'The editor of the document, by the id that you chose. A document can have several.',
  endpointId: 'The webhook endpoint, by the id that `endpoints/create` returned.',
  folderId: 'The folder, by the id that you chose. It is unique within the organization.',
  folderIds: 'The folders, by the ids that you chose.',
  isServerIds: 'Must be false or left out, because requests name organizations and documents by your own ids.',
  nextPageToken: 'Continues the listing as `pageToken`. Null after the last page.',
  organizationId: 'The organization, by the id that you chose. All other ids of the request belong to it.',
  organizationIds: 'The organizations, by the ids that you chose.',
  organizationUserGroupId: 'The group of users of the organization, by the id that you chose.',
  organizationUserGroupIds: 'The groups of users of the organization, by the ids that you chose.',
  pageSize: 'The largest number of items in the answer. By default the maximum.',
  pageToken: 'Continues a listing: the token of the page before, unchanged. Leave it out for the first page.',
  parentFolderId: 'The folder that contains it, or `root` for the top level.',
  userId: 'The user, by the id that you chose.',
  userIds: 'The users, by the ids that you chose.',
};
