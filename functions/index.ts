/**
 * The registry of endpoints and twins. If a function imported it, its bundle would contain the code of all functions.
 */
export { endpoint as tokenGetV1 } from './v1/auth/token/get.ts';
export { endpoint as notificationsGetV1 } from './v1/notifications/get.ts';
export { endpoint as organizationsDocumentsLocationsDataDeleteV1 } from './v1/organizations/documents/locations/data/delete.ts';
export { endpoint as organizationsDocumentsLocationsUpdateV1 } from './v1/organizations/documents/locations/update.ts';
export {
  endpoint as organizationsUsergroupsUsersDeleteV1,
  twin as organizationsUsergroupsUsersDelete,
} from './v1/organizations/usergroups/users/delete.ts';
export { endpoint as activitiesAdd } from './v2/activities/add.ts';
export { endpoint as activitiesDelete } from './v2/activities/delete.ts';
export { endpoint as activitiesGet } from './v2/activities/get.ts';
export { endpoint as activitiesUpdate } from './v2/activities/update.ts';
export { endpoint as agentsCreate } from './v2/agents/create.ts';
export { endpoint as agentsDelete } from './v2/agents/delete.ts';
export { endpoint as agentsExtract } from './v2/agents/extract.ts';
export { endpoint as agentsGet } from './v2/agents/get.ts';
export { endpoint as agentsGroupsAddAgents } from './v2/agents/groups/add-agents.ts';
export { endpoint as agentsGroupsCreate } from './v2/agents/groups/create.ts';
export { endpoint as agentsGroupsDelete } from './v2/agents/groups/delete.ts';
export { endpoint as agentsGroupsGet } from './v2/agents/groups/get.ts';
export { endpoint as agentsGroupsList } from './v2/agents/groups/list.ts';
export { endpoint as agentsGroupsRemoveAgents } from './v2/agents/groups/remove-agents.ts';
export { endpoint as agentsGroupsUpdate } from './v2/agents/groups/update.ts';
export { endpoint as agentsUpdate } from './v2/agents/update.ts';
export { endpoint as agentsVersionUpdate } from './v2/agents/version/update.ts';
export { endpoint as agentsVersionsList } from './v2/agents/versions/list.ts';
export { endpoint as agentsVersionsRestore } from './v2/agents/versions/restore.ts';
export { endpoint as generateSignature } from './v2/auth/generate_signature.ts';
export { endpoint as generateToken } from './v2/auth/generate_token.ts';
export { endpoint as permissionsAdd } from './v2/auth/permissions/add.ts';
export { endpoint as permissionsGet } from './v2/auth/permissions/get.ts';
export { endpoint as permissionsRemove } from './v2/auth/permissions/remove.ts';
export { endpoint as tokenGet } from './v2/auth/token/get.ts';
export { endpoint as commentannotationsAdd, twin as commentannotationsAddV1 } from './v2/commentannotations/add.ts';
export {
  endpoint as commentannotationsCommentsAdd,
  twin as commentannotationsCommentsAddV1,
} from './v2/commentannotations/comments/add.ts';
export {
  endpoint as commentannotationsCommentsDelete,
  twin as commentannotationsCommentsDeleteV1,
} from './v2/commentannotations/comments/delete.ts';
export {
  endpoint as commentannotationsCommentsGet,
  twin as commentannotationsCommentsGetV1,
} from './v2/commentannotations/comments/get.ts';
export {
  endpoint as commentannotationsCommentsUpdate,
  twin as commentannotationsCommentsUpdateV1,
} from './v2/commentannotations/comments/update.ts';
export {
  endpoint as commentannotationsCountGet,
  twin as commentannotationsCountGetV1,
} from './v2/commentannotations/count/get.ts';
export {
  endpoint as commentannotationsDelete,
  twin as commentannotationsDeleteV1,
} from './v2/commentannotations/delete.ts';
export { endpoint as commentannotationsGet, twin as commentannotationsGetV1 } from './v2/commentannotations/get.ts';
export {
  endpoint as commentannotationsUpdate,
  twin as commentannotationsUpdateV1,
} from './v2/commentannotations/update.ts';
export { endpoint as commentannotationsViewsAdd } from './v2/commentannotations/views/add.ts';
export { endpoint as crdtAdd } from './v2/crdt/add.ts';
export { endpoint as crdtDelete } from './v2/crdt/delete.ts';
export { endpoint as crdtGet } from './v2/crdt/get.ts';
export { endpoint as crdtUpdate } from './v2/crdt/update.ts';
export { endpoint as crdtUpdatesGet } from './v2/crdt/updates/get.ts';
export { endpoint as crdtUpdatesPush } from './v2/crdt/updates/push.ts';
export { endpoint as crdtVersionsAdd } from './v2/crdt/versions/add.ts';
export { endpoint as crdtVersionsCompare } from './v2/crdt/versions/compare.ts';
export { endpoint as crdtVersionsDelete } from './v2/crdt/versions/delete.ts';
export { endpoint as crdtVersionsGet } from './v2/crdt/versions/get.ts';
export { endpoint as crdtVersionsRestore } from './v2/crdt/versions/restore.ts';
export { endpoint as crdtVersionsUpdate } from './v2/crdt/versions/update.ts';
export { endpoint as eventsPublish } from './v2/events/publish.ts';
export { endpoint as liveChanges } from './v2/live/changes.ts';
export { endpoint as liveConnect } from './v2/live/connect.ts';
export { endpoint as livestateBroadcast, twin as livestateBroadcastV1 } from './v2/livestate/broadcast.ts';
export { endpoint as livestateGet } from './v2/livestate/get.ts';
export { endpoint as memoryJudgmentsAdd } from './v2/memory/judgments/add.ts';
export { endpoint as memoryJudgmentsQuery } from './v2/memory/judgments/query.ts';
export { endpoint as memorySearch } from './v2/memory/search.ts';
export { endpoint as notificationsAdd, twin as notificationsAddV1 } from './v2/notifications/add.ts';
export { endpoint as notificationsConfigGet, twin as notificationsConfigGetV1 } from './v2/notifications/config/get.ts';
export { endpoint as notificationsConfigSet, twin as notificationsConfigSetV1 } from './v2/notifications/config/set.ts';
export { endpoint as notificationsCountGet } from './v2/notifications/count/get.ts';
export { endpoint as notificationsDelete, twin as notificationsDeleteV1 } from './v2/notifications/delete.ts';
export { endpoint as notificationsGet } from './v2/notifications/get.ts';
export { endpoint as notificationsUpdate, twin as notificationsUpdateV1 } from './v2/notifications/update.ts';
export {
  endpoint as organizationsAccessDisablestateUpdate,
  twin as organizationsAccessDisablestateUpdateV1,
} from './v2/organizations/access/disablestate/update.ts';
export { endpoint as organizationsAdd, twin as organizationsAddV1 } from './v2/organizations/add.ts';
export { endpoint as organizationsDelete, twin as organizationsDeleteV1 } from './v2/organizations/delete.ts';
export {
  endpoint as documentsAccessDisablestateUpdate,
  twin as documentsAccessDisablestateUpdateV1,
} from './v2/organizations/documents/access/disablestate/update.ts';
export {
  endpoint as documentsAccessUpdate,
  twin as documentsAccessUpdateV1,
} from './v2/organizations/documents/access/update.ts';
export { endpoint as documentsAdd, twin as documentsAddV1 } from './v2/organizations/documents/add.ts';
export { endpoint as documentsCountGet } from './v2/organizations/documents/count/get.ts';
export { endpoint as documentsDelete, twin as documentsDeleteV1 } from './v2/organizations/documents/delete.ts';
export { endpoint as documentsGet, twin as documentsGetV1 } from './v2/organizations/documents/get.ts';
export { endpoint as documentsMigrate } from './v2/organizations/documents/migrate.ts';
export { endpoint as documentsMigrateStatus } from './v2/organizations/documents/migrate/status.ts';
export { endpoint as documentsMove, twin as documentsMoveV1 } from './v2/organizations/documents/move.ts';
export { endpoint as documentsUpdate, twin as documentsUpdateV1 } from './v2/organizations/documents/update.ts';
export {
  endpoint as foldersAccessUpdate,
  twin as foldersAccessUpdateV1,
} from './v2/organizations/folders/access/update.ts';
export { endpoint as foldersAdd, twin as foldersAddV1 } from './v2/organizations/folders/add.ts';
export { endpoint as foldersDelete } from './v2/organizations/folders/delete.ts';
export { endpoint as foldersGet, twin as foldersGetV1 } from './v2/organizations/folders/get.ts';
export { endpoint as foldersUpdate, twin as foldersUpdateV1 } from './v2/organizations/folders/update.ts';
export { endpoint as organizationsGet, twin as organizationsGetV1 } from './v2/organizations/get.ts';
export { endpoint as organizationsUpdate, twin as organizationsUpdateV1 } from './v2/organizations/update.ts';
export {
  endpoint as organizationsUsergroupsAdd,
  twin as organizationsUsergroupsAddV1,
} from './v2/organizations/usergroups/add.ts';
export { endpoint as organizationsUsergroupsGet } from './v2/organizations/usergroups/get.ts';
export {
  endpoint as organizationsUsergroupsUsersAdd,
  twin as organizationsUsergroupsUsersAddV1,
} from './v2/organizations/usergroups/users/add.ts';
export { endpoint as presenceAdd } from './v2/presence/add.ts';
export { endpoint as presenceDelete } from './v2/presence/delete.ts';
export { endpoint as presenceGet } from './v2/presence/get.ts';
export { endpoint as presenceUpdate } from './v2/presence/update.ts';
export { endpoint as reactionsAdd } from './v2/reactions/add.ts';
export { endpoint as reactionsDelete } from './v2/reactions/delete.ts';
export { endpoint as recordingsAdd } from './v2/recordings/add.ts';
export { endpoint as recordingsGet } from './v2/recordings/get.ts';
export { endpoint as usersAdd, twin as usersAddV1 } from './v2/users/add.ts';
export { endpoint as usersCountGet } from './v2/users/count/get.ts';
export { endpoint as usersDataDelete, twin as usersDataDeleteV1 } from './v2/users/data/delete.ts';
export { endpoint as usersDataDeleteStatus, twin as usersDataDeleteStatusV1 } from './v2/users/data/delete/status.ts';
export { endpoint as usersDataGet, twin as usersDataGetV1 } from './v2/users/data/get.ts';
export { endpoint as usersDelete, twin as usersDeleteV1 } from './v2/users/delete.ts';
export { endpoint as usersDocGet } from './v2/users/doc/get.ts';
export { endpoint as usersGet, twin as usersGetV1 } from './v2/users/get.ts';
export { endpoint as usersInvitationsGet } from './v2/users/invitations/get.ts';
export { endpoint as usersInviteAdd } from './v2/users/invite/add.ts';
export { endpoint as usersInviteGet } from './v2/users/invite/get.ts';
export { endpoint as usersInvitePendingCount } from './v2/users/invite/pending/count.ts';
export { endpoint as usersInviteRespond } from './v2/users/invite/respond.ts';
export { endpoint as usersUpdate, twin as usersUpdateV1 } from './v2/users/update.ts';
export { endpoint as workspaceActivityconfigGet } from './v2/workspace/activityconfig/get.ts';
export { endpoint as workspaceActivityconfigUpdate } from './v2/workspace/activityconfig/update.ts';
export { endpoint as workspaceAdditionalUrlRequest } from './v2/workspace/additional-url-request.ts';
export { endpoint as workspaceAdvancedwebhookAttemptsGet } from './v2/workspace/advancedwebhook/attempts/get.ts';
export { endpoint as workspaceAdvancedwebhookEndpointsCreate } from './v2/workspace/advancedwebhook/endpoints/create.ts';
export { endpoint as workspaceAdvancedwebhookEndpointsDelete } from './v2/workspace/advancedwebhook/endpoints/delete.ts';
export { endpoint as workspaceAdvancedwebhookEndpointsGet } from './v2/workspace/advancedwebhook/endpoints/get.ts';
export { endpoint as workspaceAdvancedwebhookEndpointsRecover } from './v2/workspace/advancedwebhook/endpoints/recover.ts';
export { endpoint as workspaceAdvancedwebhookEndpointsSecretGet } from './v2/workspace/advancedwebhook/endpoints/secret/get.ts';
export { endpoint as workspaceAdvancedwebhookEndpointsSecretRotate } from './v2/workspace/advancedwebhook/endpoints/secret/rotate.ts';
export { endpoint as workspaceAdvancedwebhookEndpointsTest } from './v2/workspace/advancedwebhook/endpoints/test.ts';
export { endpoint as workspaceAdvancedwebhookEndpointsUpdate } from './v2/workspace/advancedwebhook/endpoints/update.ts';
export { endpoint as workspaceAdvancedwebhookMessagesGet } from './v2/workspace/advancedwebhook/messages/get.ts';
export { endpoint as workspaceAdvancedwebhookMessagesResend } from './v2/workspace/advancedwebhook/messages/resend.ts';
export { endpoint as workspaceAdvancedwebhookconfigGet } from './v2/workspace/advancedwebhookconfig/get.ts';
export { endpoint as workspaceAdvancedwebhookconfigUpdate } from './v2/workspace/advancedwebhookconfig/update.ts';
export { endpoint as workspaceApikeyCopy } from './v2/workspace/apikey/copy.ts';
export { endpoint as workspaceApikeyCreate } from './v2/workspace/apikey/create.ts';
export { endpoint as workspaceApikeyUpdate } from './v2/workspace/apikey/update.ts';
export {
  endpoint as workspaceApikeyconfigGet,
  twin as workspaceApikeymetadataGet,
} from './v2/workspace/apikeyconfig/get.ts';
export {
  endpoint as workspaceApikeyconfigUpdate,
  twin as workspaceApikeymetadataUpdate,
} from './v2/workspace/apikeyconfig/update.ts';
export { endpoint as workspaceApikeysGet } from './v2/workspace/apikeys/get.ts';
export { endpoint as workspaceAuthtokenEnsure } from './v2/workspace/authtoken/ensure.ts';
export { endpoint as workspaceAuthtokenReset } from './v2/workspace/authtoken/reset.ts';
export { endpoint as workspaceAuthtokensGet } from './v2/workspace/authtokens/get.ts';
export { endpoint as workspaceChatconfigGet } from './v2/workspace/chatconfig/get.ts';
export { endpoint as workspaceChatconfigUpdate } from './v2/workspace/chatconfig/update.ts';
export { endpoint as workspaceCreate } from './v2/workspace/create.ts';
export { endpoint as workspaceDomainsAdd, twin as workspaceDomainsAddV1 } from './v2/workspace/domains/add.ts';
export { endpoint as workspaceDomainsDelete, twin as workspaceDomainsDeleteV1 } from './v2/workspace/domains/delete.ts';
export { endpoint as workspaceDomainsGet } from './v2/workspace/domains/get.ts';
export { endpoint as workspaceDomainsRequest } from './v2/workspace/domains/request.ts';
export { endpoint as workspaceEmailSendLoginLink } from './v2/workspace/email/send-login-link.ts';
export { endpoint as workspaceEmailStatus } from './v2/workspace/email/status.ts';
export { endpoint as workspaceEmailconfigGet } from './v2/workspace/emailconfig/get.ts';
export { endpoint as workspaceEmailconfigUpdate } from './v2/workspace/emailconfig/update.ts';
export { endpoint as workspaceGet } from './v2/workspace/get.ts';
export { endpoint as workspaceNotificationconfigGet } from './v2/workspace/notificationconfig/get.ts';
export { endpoint as workspaceNotificationconfigUpdate } from './v2/workspace/notificationconfig/update.ts';
export { endpoint as workspacePermissionproviderconfigGet } from './v2/workspace/permissionproviderconfig/get.ts';
export { endpoint as workspacePermissionproviderconfigUpdate } from './v2/workspace/permissionproviderconfig/update.ts';
export { endpoint as workspaceRequestedDomainsGet } from './v2/workspace/requested/domains/get.ts';
export { endpoint as workspaceWebhookconfigGet } from './v2/workspace/webhookconfig/get.ts';
export { endpoint as workspaceWebhookconfigUpdate } from './v2/workspace/webhookconfig/update.ts';
