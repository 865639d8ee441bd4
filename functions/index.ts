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
export { endpoint as workspaceActivityconfigGet } from './v2/workspace/activityconfig/get.ts';
export { endpoint as workspaceActivityconfigUpdate } from './v2/workspace/activityconfig/update.ts';
export { endpoint as workspaceAdvancedwebhookEndpointsCreate } from './v2/workspace/advancedwebhook/endpoints/create.ts';
export { endpoint as workspaceAdvancedwebhookEndpointsDelete } from './v2/workspace/advancedwebhook/endpoints/delete.ts';
export { endpoint as workspaceAdvancedwebhookEndpointsGet } from './v2/workspace/advancedwebhook/endpoints/get.ts';
export { endpoint as workspaceAdvancedwebhookEndpointsSecretGet } from './v2/workspace/advancedwebhook/endpoints/secret/get.ts';
export { endpoint as workspaceAdvancedwebhookEndpointsSecretRotate } from './v2/workspace/advancedwebhook/endpoints/secret/rotate.ts';
export { endpoint as workspaceAdvancedwebhookEndpointsUpdate } from './v2/workspace/advancedwebhook/endpoints/update.ts';
export { endpoint as workspaceAdvancedwebhookconfigGet } from './v2/workspace/advancedwebhookconfig/get.ts';
export { endpoint as workspaceAdvancedwebhookconfigUpdate } from './v2/workspace/advancedwebhookconfig/update.ts';
export { endpoint as workspaceApikeyCreate } from './v2/workspace/apikey/create.ts';
export { endpoint as workspaceApikeyUpdate } from './v2/workspace/apikey/update.ts';
export { endpoint as workspaceApikeyconfigGet } from './v2/workspace/apikeyconfig/get.ts';
export { endpoint as workspaceApikeyconfigUpdate } from './v2/workspace/apikeyconfig/update.ts';
export { endpoint as workspaceApikeysGet } from './v2/workspace/apikeys/get.ts';
export { endpoint as workspaceAuthtokenReset } from './v2/workspace/authtoken/reset.ts';
export { endpoint as workspaceAuthtokensGet } from './v2/workspace/authtokens/get.ts';
export { endpoint as workspaceCreate } from './v2/workspace/create.ts';
export { endpoint as workspaceDomainsAdd } from './v2/workspace/domains/add.ts';
export { endpoint as workspaceDomainsDelete } from './v2/workspace/domains/delete.ts';
export { endpoint as workspaceDomainsGet } from './v2/workspace/domains/get.ts';
export { endpoint as workspaceEmailSendLoginLink } from './v2/workspace/email/send-login-link.ts';
export { endpoint as workspaceEmailStatus } from './v2/workspace/email/status.ts';
export { endpoint as workspaceEmailconfigGet } from './v2/workspace/emailconfig/get.ts';
export { endpoint as workspaceEmailconfigUpdate } from './v2/workspace/emailconfig/update.ts';
export { endpoint as workspaceGet } from './v2/workspace/get.ts';
export { endpoint as workspaceNotificationconfigGet } from './v2/workspace/notificationconfig/get.ts';
export { endpoint as workspaceNotificationconfigUpdate } from './v2/workspace/notificationconfig/update.ts';
export { endpoint as workspacePermissionproviderconfigGet } from './v2/workspace/permissionproviderconfig/get.ts';
export { endpoint as workspacePermissionproviderconfigUpdate } from './v2/workspace/permissionproviderconfig/update.ts';
export { endpoint as workspaceWebhookconfigGet } from './v2/workspace/webhookconfig/get.ts';
export { endpoint as workspaceWebhookconfigUpdate } from './v2/workspace/webhookconfig/update.ts';
