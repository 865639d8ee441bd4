/**
 * The cost of requests by name: the path of the endpoint, and what the request reads or writes.
 * test/integration/table/capacity.test.ts measures each and expects exactly these numbers, so it notices improvements too. A comment
 * explains the rows that follow it. Endpoints that `npm run new:endpoint` wrote have their cost in their declaration.
 */

/** AWS calls, sequential round trips, read units and write units of one request. */
export type Numbers = readonly [calls: number, roundTrips: number, readUnits: number, writeUnits: number];
type Costs = Readonly<Record<string, Numbers>>;

/** These endpoints need no data of the table. */
const readsOfNothing: Costs = {
  '/v2/agents/extract a table': [0, 0, 0, 0],
  '/v2/auth/generate_signature of one permission': [0, 0, 0, 0],
};

export const readsOfConfiguration: Costs = {
  '/v2/organizations/get by id': [1, 1, 1, 0],
  '/v2/organizations/get a page': [1, 1, 1, 0],
  '/v2/users/data/delete/status of one': [1, 1, 1, 0],
  '/v2/workspace/apikeys/get by id': [1, 1, 1, 0],
  '/v2/workspace/apikeys/get a page': [1, 1, 1, 0],
  '/v2/workspace/domains/get all': [1, 1, 1, 0],
  '/v2/workspace/activityconfig/get it': [1, 1, 1, 0],
  '/v2/workspace/advancedwebhookconfig/get it': [1, 1, 1, 0],
  '/v2/workspace/emailconfig/get it': [1, 1, 1, 0],
  '/v2/workspace/notificationconfig/get it': [1, 1, 1, 0],
  '/v2/workspace/permissionproviderconfig/get it': [1, 1, 1, 0],
  '/v2/workspace/webhookconfig/get it': [1, 1, 1, 0],
  '/v2/agents/get a built-in one': [1, 1, 1, 0],
  '/v2/agents/get all': [1, 1, 1, 0],
  '/v2/agents/groups/get one': [1, 1, 1, 0],
  '/v2/agents/groups/list all': [1, 1, 1, 0],
};

export const readsInOrganizations: Costs = {
  '/v2/organizations/documents/get by id': [2, 1, 2, 0],
  '/v2/organizations/usergroups/get by id': [2, 1, 2, 0],
  '/v2/organizations/usergroups/get a page': [2, 1, 2, 0],
  '/v2/users/get by id': [3, 1, 3, 0],
  '/v2/auth/permissions/get on the organization': [3, 1, 3, 0],
  '/v2/auth/permissions/get on a folder': [4, 1, 4, 0],
  '/v2/auth/permissions/get on a document': [4, 1, 4, 0],
  // Reads the agent, then its version.
  '/v2/agents/get a custom one': [2, 2, 2, 0],
  '/v2/agents/get of a group': [2, 2, 3, 0],
  '/v2/agents/versions/list of one': [2, 1, 2, 0],
};

export const writesOfOneThing: Costs = {
  // An edit writes one item of the editor's log. The first edit after a pause also starts an event job, for 4 more units.
  '/v2/crdt/update one': [4, 3, 3, 1],
  '/v2/crdt/update one unchanged': [3, 2, 3, 0],
  '/v2/crdt/updates/push one': [4, 3, 3, 1],
  '/v2/commentannotations/update one': [5, 4, 4, 1],
  '/v2/organizations/add one': [2, 2, 1, 1],
  '/v2/organizations/update one': [2, 2, 1, 1],
  '/v2/organizations/access/disablestate/update one': [2, 2, 1, 1],
  '/v2/organizations/documents/add one': [4, 3, 3, 1],
  '/v2/organizations/documents/access/update one': [3, 3, 2, 1],
  '/v2/organizations/documents/access/disablestate/update one': [3, 3, 2, 1],
  '/v2/organizations/documents/update one': [3, 3, 2, 1],
  '/v2/organizations/folders/update a name': [3, 3, 2, 1],
  '/v2/organizations/usergroups/add one': [3, 3, 2, 1],
  // Writes the member, which is indexed by user.
  '/v2/organizations/usergroups/users/add one': [5, 4, 4, 2],
  '/v2/organizations/usergroups/users/add one who exists': [4, 3, 4, 0],
  '/v1/organizations/usergroups/users/delete one': [5, 4, 4, 2],
  '/v2/users/add one who exists, unchanged': [4, 2, 4, 0],
  '/v2/users/update one': [3, 3, 2, 1],
  '/v2/users/update a role': [4, 3, 3, 1],
  '/v2/auth/permissions/add one document': [4, 3, 3, 1],
  '/v2/auth/permissions/remove one document': [4, 4, 2, 2],
  // The stored user has the same profile already, so the user is not written again.
  '/v2/auth/generate_token for a known user and a document': [5, 4, 5, 0],
  '/v2/auth/token/get for a known member': [6, 3, 6, 0],
  '/v1/auth/token/get for a known member': [8, 5, 7.5, 0],
  '/v2/workspace/apikey/update one': [2, 2, 1, 1],
  '/v2/workspace/domains/add one': [2, 2, 1, 1],
  '/v2/workspace/domains/delete one': [2, 2, 1, 1],
  '/v2/workspace/activityconfig/update it': [2, 2, 1, 1],
  '/v2/workspace/apikeyconfig/update it': [2, 2, 1, 1],
  '/v2/workspace/emailconfig/update it': [2, 2, 1, 1],
  '/v2/workspace/notificationconfig/update it': [2, 2, 1, 1],
  '/v2/workspace/permissionproviderconfig/update it': [2, 2, 1, 1],
  '/v2/agents/update one': [2, 2, 1, 1],
  '/v2/agents/update a built-in one': [2, 2, 1, 1],
  '/v2/agents/groups/update one': [2, 2, 1, 1],
  '/v2/agents/groups/add-agents one': [3, 3, 2, 1],
  '/v2/agents/groups/remove-agents one': [2, 2, 1, 1],
};

/** Most of these endpoints write in one transaction. In a transaction, an item costs twice as many units. */
const writesOfSeveralThings: Costs = {
  // The transaction also writes the revision of the webhook settings.
  '/v2/workspace/advancedwebhookconfig/update it': [3, 3, 2, 4],
  '/v2/workspace/webhookconfig/update it': [3, 3, 2, 4],
  '/v2/workspace/advancedwebhook/endpoints/update one': [5, 3, 4, 4],
  '/v2/workspace/advancedwebhook/endpoints/secret/rotate of one endpoint': [5, 3, 4, 4],
  // Writes the group, and the number of groups, which enforces their limit.
  '/v2/agents/groups/create one': [3, 3, 2, 4],
  '/v2/agents/groups/delete one': [3, 2, 2, 4],
  // Writes the judgment with three index entries, four for a thread. Then writes its vector, which is larger than 2 KB.
  // Also writes and deletes a job with an index entry. After a crash, the job adds the missing vector.
  '/v2/memory/judgments/add one': [8, 5, 4, 11],
  '/v2/memory/judgments/add one with content': [8, 5, 4, 12],
  '/v2/memory/judgments/add one of a thread': [8, 5, 4, 12],
  // Writes the thread, the judgment, and the job that adds the judgment's vector. Also writes five index entries.
  '/v2/commentannotations/update one with a reason': [6, 5, 5, 11],
  // Deletes the organization, and writes the purge job with its index entry.
  '/v2/organizations/delete one': [2, 2, 1, 5],
  // Writes the event with two index entries. A test event has more than 2 KB, and its first attempt is stored with it.
  '/v2/events/publish one': [2, 2, 1, 3],
  '/v2/events/publish one of a document': [2, 2, 2, 3],
  '/v2/events/publish one that exists': [3, 3, 2, 0],
  '/v2/workspace/advancedwebhook/endpoints/test one': [2, 2, 3, 10],
  '/v2/workspace/advancedwebhook/endpoints/recover nothing': [3, 3, 4.5, 0],
  '/v2/workspace/advancedwebhook/messages/resend one': [4, 3, 5, 3],
  // Without name or e-mail address in the call, reads the profile of the actor together with the organization.
  '/v2/notifications/add one': [4, 3, 3, 8],
  '/v2/notifications/add one that exists': [9, 7, 8, 0],
  '/v2/notifications/add one to verified users': [6, 5, 8, 6],
  '/v2/notifications/update one': [6, 5, 5, 1],
  '/v2/notifications/config/set of one user': [4, 4, 3, 1],
  // Writes the job with its index entry and the status of the erasure. Then writes the user, whose access ends at once.
  '/v2/users/data/delete of a user in one organization': [4, 4, 2, 9],
  '/v2/notifications/delete one': [6, 5, 5, 8],
  '/v1/organizations/documents/locations/update of one notification': [4, 4, 2.5, 1],
  '/v1/organizations/documents/locations/data/delete with one notification': [4, 4, 2.5, 9],
  // Writes the head, the first update, and an event job with its index entry.
  '/v2/crdt/add one': [3, 2, 2, 7],
  // Deletes the head, and writes the purge job with its index entry.
  '/v2/crdt/delete one': [4, 3, 3, 5],
  // Writes the record and its id. A target entity is one more index entry. A recording also has an involvement and an event.
  '/v2/activities/add one': [4, 2, 3, 4],
  '/v2/activities/add one with an id': [5, 3, 4, 4],
  '/v2/activities/add one of a target entity': [4, 2, 3, 5],
  '/v2/activities/add a hundred': [5, 3, 3, 400],
  '/v2/activities/update one': [6, 4, 5, 4],
  '/v2/activities/delete one by id': [5, 4, 4, 5],
  '/v2/recordings/add one': [4, 3, 3, 10],
  // Writes the head, the id, the comment and the involvement. The counter of thread numbers is written before, together with
  // the read of the id.
  '/v2/commentannotations/add one': [5, 4, 3, 9],
  '/v2/commentannotations/add one that notifies users': [5, 4, 3, 17],
  // Also writes the agent's execution, and the job that counts it with an index entry. Also reads the agent and the
  // state of the execution.
  '/v2/commentannotations/add one of an agent': [6, 4, 6, 14],
  '/v2/commentannotations/delete one': [6, 5, 5, 10],
  // Writes the head, the comment and its involvement. An event with its payload has more than 2 KB, and two index entries.
  '/v2/commentannotations/comments/add one': [5, 4, 4, 6],
  '/v2/commentannotations/comments/add one that notifies users': [5, 4, 4, 12],
  '/v2/commentannotations/comments/add one of an agent': [6, 4, 7, 11],
  '/v2/commentannotations/comments/update one': [5, 4, 5, 4],
  '/v2/commentannotations/comments/delete one': [5, 4, 5, 6],
  // Writes the reaction, its id and its involvement. A reaction on a comment also writes the thread, the comment, and an event
  // of more than 2 KB.
  '/v2/reactions/add one': [4, 3, 3, 6],
  '/v2/reactions/add one on a comment': [6, 4, 6, 18],
  '/v2/reactions/add one more user': [7, 5, 6, 14],
  '/v2/reactions/add one that exists, unchanged': [4, 3, 4, 0],
  '/v2/reactions/delete one': [5, 4, 4, 6],
  '/v2/reactions/delete one on a comment': [7, 5, 6, 18],
  '/v1/organizations/usergroups/users/delete all of fifty': [6, 4, 57, 100],
  '/v2/organizations/add two': [2, 2, 2, 4],
  // Writes the folder or document, and its entry in the folder above it.
  '/v2/organizations/folders/add one at the top': [3, 3, 2, 4],
  '/v2/organizations/folders/add one in a folder': [3, 3, 3, 4],
  '/v2/organizations/documents/add one in a folder': [5, 4, 4, 4],
  // Writes the document, and its entry in a folder. A deletion also starts a purge job, which has an index entry.
  '/v2/organizations/documents/move one to the top': [3, 3, 2, 4],
  '/v2/organizations/documents/move one into a folder': [4, 4, 3, 4],
  '/v2/organizations/documents/delete one': [3, 3, 2, 5],
  '/v2/organizations/documents/delete one of a folder': [3, 3, 2, 7],
  // Writes the organization, the job, the folder and its change record. A move also deletes the folder's entry in the old
  // parent folder, and writes one in the new parent folder.
  '/v2/organizations/folders/update one moved to the top': [3, 3, 2, 13],
  '/v2/organizations/folders/access/update one': [4, 4, 2, 9],
  // A change of the folder tree is running. So reads the change records together with the folder.
  '/v2/organizations/folders/delete one': [4, 3, 3, 11],
  // Writes the user, and the grant with its index entry.
  '/v2/auth/permissions/add one document, to a new user': [5, 3, 3, 3],
  // Writes the user, and the grant and the contact with their index entries.
  '/v2/users/add one to an organization': [5, 3, 4, 8],
  '/v2/users/add one to a document': [6, 4, 5, 8],
  // Writes the job with its index entry. Then writes the user and the record of the removed access, and deletes the contact
  // with its index entry.
  '/v2/users/delete one from an organization': [5, 3, 3, 9],
  '/v2/users/delete one from a document': [6, 4, 4, 9],
  // Writes the workspace, the owner's address, the key, the key's list entry and the token. The counter of the rate limit is
  // written separately.
  '/v2/workspace/create one': [2, 2, 0, 11],
  // Writes the revision of the workspace, the key, the key's list entry and the token.
  '/v2/workspace/apikey/create one': [3, 3, 2, 8],
  // Writes the key and its new token, and deletes its old token.
  '/v2/workspace/authtoken/reset of one key': [3, 3, 2, 6],
  // Writes the agent, its version, and the number of agents in one transaction. A later version does not change the number.
  '/v2/agents/create one': [2, 2, 1, 6],
  '/v2/agents/create one with a secret': [2, 2, 1, 6],
  '/v2/agents/version/update one': [3, 3, 2, 4],
  '/v2/agents/versions/restore one': [4, 4, 3, 4],
  // Deletes the agent. Writes the number of agents, and the job that purges the agent, with its index entry. Then reads the
  // groups.
  '/v2/agents/delete one': [4, 3, 3, 7],
  // Writes the endpoint, the number of endpoints, and the uid if there is one.
  '/v2/workspace/advancedwebhook/endpoints/create one': [3, 3, 3, 4],
  '/v2/workspace/advancedwebhook/endpoints/create one with a uid': [3, 3, 4, 6],
  '/v2/workspace/advancedwebhook/endpoints/delete one': [4, 3, 3, 4],
  // Writes the counters of two rate limits in separate calls. A login link is one more write.
  '/v2/workspace/email/status of one owner': [4, 4, 2, 2],
  '/v2/workspace/email/send-login-link to one owner': [7, 6, 5, 3],
};

/** Reads that cost more than the groups above allow. */
const costlyReads: Costs = {
  // With a query text, reads the embedding model and searches the vectors. Reads one unit for each result. If the call does
  // not name documents, also reads the organizations and documents of the results.
  '/v2/memory/search a document': [6, 3, 13, 0],
  '/v2/memory/search an organization': [7, 5, 14, 0],
  '/v2/memory/search everything': [9, 6, 17.5, 0],
  '/v2/memory/search a thread': [6, 5, 14, 0],
  '/v2/memory/search the latest': [5, 3, 13, 0],
  '/v2/memory/judgments/query the latest': [5, 3, 13, 0],
  '/v2/memory/judgments/query a thread': [5, 5, 13.5, 0],
  // Reads the organization and the document, then queries the editor.
  '/v2/crdt/get one': [3, 2, 3, 0],
  '/v2/crdt/get all of a document': [3, 2, 3, 0],
  '/v2/crdt/updates/get everything': [3, 2, 3, 0],
  '/v2/crdt/updates/get nothing new': [3, 2, 3, 0],
  // Queries the 16 shards of the tenant's events, or the 8 shards of an endpoint. Then reads the events with their deliveries.
  '/v2/workspace/advancedwebhook/messages/get a page': [19, 3, 11, 0],
  '/v2/workspace/advancedwebhook/messages/get a page of an endpoint': [11, 3, 7, 0],
  '/v2/workspace/advancedwebhook/attempts/get of a message': [4, 1, 4, 0],
  '/v2/commentannotations/get by id': [5, 2, 5, 0],
  '/v2/commentannotations/get a page': [3, 2, 3, 0],
  '/v2/commentannotations/get a hundred': [3, 2, 33, 0],
  // Reads the user and the user's grants, because the document is not public.
  '/v2/commentannotations/count/get of a document': [6, 4, 36, 0],
  '/v2/notifications/get by id': [5, 3, 5, 0],
  '/v2/notifications/get a page of a document': [3, 2, 3, 0],
  '/v2/notifications/get a page of a user': [6, 4, 6, 0],
  '/v1/notifications/get of a document': [3, 2, 3, 0],
  '/v2/notifications/config/get of one document': [3, 2, 4, 0],
  '/v2/users/data/get of one user': [13, 4, 22, 0],
  // Reads the organization and the document, then the records. For named records, first reads their positions by their ids. In
  // an organization, first reads the records of four documents in parallel.
  '/v2/activities/get by id': [4, 2, 4, 0],
  '/v2/activities/get a page of a document': [3, 2, 11, 0],
  '/v2/activities/get a page of an organization': [5, 3, 13, 0],
  '/v2/activities/get a page of a target entity': [4, 3, 12.5, 0],
  '/v2/recordings/get by id': [4, 3, 4, 0],
  '/v2/recordings/get a page of a document': [3, 2, 3, 0],
  '/v2/recordings/get a page of an organization': [5, 3, 5, 0],
  // Reads in up to three round trips: the organization, the document and the thread's id, then the head and the comments, then
  // the reactions.
  '/v2/commentannotations/comments/get by id': [5, 2, 5, 0],
  '/v2/commentannotations/comments/get a page': [5, 2, 5, 0],
  '/v2/commentannotations/comments/get a page with a reaction': [6, 3, 6, 0],
  // A document in a folder has the folder's access type. Reading it takes a second round trip.
  '/v2/auth/permissions/get on a document in a folder': [5, 2, 5, 0],
  '/v2/organizations/documents/get by id, in a folder': [3, 2, 3, 0],
  '/v2/organizations/documents/get a page': [3, 2, 3, 0],
  // Reads the folder, its entries and the documents.
  '/v2/organizations/documents/get a page of a folder': [4, 3, 4, 0],
  // Reads the folder together with the change records.
  '/v2/organizations/documents/get by id, while folders are moved': [4, 2, 4, 0],
  '/v2/organizations/folders/get at the top': [3, 2, 3, 0],
  '/v2/organizations/folders/get one with those directly in it': [4, 3, 4, 0],
  // Each level of folders takes two more round trips.
  '/v2/organizations/folders/get two levels': [5, 4, 5, 0],
  // Reads each item that it counts.
  '/v2/organizations/documents/count/get of an organization': [2, 1, 9, 0],
  '/v2/organizations/documents/count/get of a folder': [3, 2, 8, 0],
  // Reads one unit for each document of a folder and each profile of a contact list.
  '/v2/organizations/documents/get a hundred': [3, 2, 10, 0],
  '/v2/organizations/documents/get a hundred of a folder': [4, 3, 108, 0],
  '/v2/users/get a hundred': [3, 2, 110, 0],
  // Reads the groups, then their members, then the profiles of the members.
  '/v2/organizations/usergroups/get a page with the users': [4, 3, 6, 0],
  // Reads the contacts, then their profiles. With `allDocuments`, first reads the contacts of four documents in parallel. If
  // the call names a group, reads its members first.
  '/v2/users/get a page': [3, 2, 3, 0],
  '/v2/users/get a page of all documents': [6, 4, 6, 0],
  '/v2/users/get a page of a group': [4, 3, 6, 0],
  // Reads one unit for each 4 KB of the contact list.
  '/v2/users/count/get of an organization': [2, 1, 10, 0],
  '/v2/users/count/get of one document': [3, 2, 3, 0],
  '/v2/users/get a page of a document': [4, 3, 4, 0],
  // The item and its list are read in parallel.
  '/v2/workspace/get its own': [2, 1, 2, 0],
  '/v2/workspace/authtokens/get of one key': [2, 1, 2, 0],
  '/v2/workspace/apikeyconfig/get it': [2, 1, 2, 0],
  // Reads the webhook configuration, which says whether webhooks are on.
  '/v2/workspace/advancedwebhook/endpoints/get a page': [2, 1, 2, 0],
  '/v2/workspace/advancedwebhook/endpoints/secret/get of one endpoint': [2, 2, 2, 0],
};

export const requestCosts: Costs = {
  ...readsOfNothing,
  ...readsOfConfiguration,
  ...readsInOrganizations,
  ...writesOfOneThing,
  ...writesOfSeveralThings,
  ...costlyReads,
};
