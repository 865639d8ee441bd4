/**
 * The registry: one line per endpoint. The stack, the OpenAPI document and the tests read it; a deployed function never
 * does (it would carry every other function in its bundle).
 */
export { endpoint as permissionsAdd } from './v2/auth/permissions/add.ts';
export { endpoint as permissionsGet } from './v2/auth/permissions/get.ts';
export { endpoint as permissionsRemove } from './v2/auth/permissions/remove.ts';
export { endpoint as organizationsAdd } from './v2/organizations/add.ts';
export { endpoint as documentsAccessUpdate } from './v2/organizations/documents/access/update.ts';
export { endpoint as documentsAdd } from './v2/organizations/documents/add.ts';
export { endpoint as documentsGet } from './v2/organizations/documents/get.ts';
export { endpoint as foldersAdd } from './v2/organizations/folders/add.ts';
export { endpoint as organizationsGet } from './v2/organizations/get.ts';
export { endpoint as usersAdd } from './v2/users/add.ts';
export { endpoint as usersGet } from './v2/users/get.ts';
export { endpoint as workspaceApikeyCreate } from './v2/workspace/apikey/create.ts';
export { endpoint as workspaceApikeyUpdate } from './v2/workspace/apikey/update.ts';
export { endpoint as workspaceApikeysGet } from './v2/workspace/apikeys/get.ts';
export { endpoint as workspaceAuthtokenReset } from './v2/workspace/authtoken/reset.ts';
export { endpoint as workspaceAuthtokensGet } from './v2/workspace/authtokens/get.ts';
export { endpoint as workspaceCreate } from './v2/workspace/create.ts';
export { endpoint as workspaceGet } from './v2/workspace/get.ts';
