/** The methods of the client. `npm run readme` writes this file. */
import type * as registry from '../../functions/index.ts';
import type { Method } from './types.ts';

/** A method for every endpoint: `client.v2.users.add(data)` calls `/v2/users/add`. */
export interface Methods {
  readonly v1: {
    readonly auth: {
      readonly token: {
        /** Create a user token, with the credentials of the API key in the body. */
        readonly get: Method<typeof registry.tokenGetV1>;
      };
    };
    readonly commentannotations: {
      /** Add comment threads to a document, each with its first comments. */
      readonly add: Method<typeof registry.commentannotationsAddV1>;
      readonly comments: {
        /** Add comments to an annotation, all of them or none. */
        readonly add: Method<typeof registry.commentannotationsCommentsAddV1>;
        /** Delete comments of an annotation with their reactions: by id, by author, or all. An annotation without comments is deleted too. */
        readonly delete: Method<typeof registry.commentannotationsCommentsDeleteV1>;
        /** Get comments of an annotation by id, or all comments in pages, in the order of their ids. */
        readonly get: Method<typeof registry.commentannotationsCommentsGetV1>;
        /** Change comments of an annotation: by id, by author, or all. */
        readonly update: Method<typeof registry.commentannotationsCommentsUpdateV1>;
      };
      readonly count: {
        /** Count the comment threads of documents that a user can see, and how many of them are unread. */
        readonly get: Method<typeof registry.commentannotationsCountGetV1>;
      };
      /** Delete some or all comment threads of a document, with their comments and reactions. */
      readonly delete: Method<typeof registry.commentannotationsDeleteV1>;
      /** Get comment threads with their comments by id, or the threads of a document, a folder or an organization in pages. */
      readonly get: Method<typeof registry.commentannotationsGetV1>;
      /** Change comment threads of a document. */
      readonly update: Method<typeof registry.commentannotationsUpdateV1>;
    };
    readonly livestate: {
      /** Send data to all users in a document, and store it under an id. */
      readonly broadcast: Method<typeof registry.livestateBroadcastV1>;
    };
    readonly notifications: {
      /** Notify the given users, or all users who have access to a document. */
      readonly add: Method<typeof registry.notificationsAddV1>;
      readonly config: {
        /** Get the notification levels of a user, in the organization or in some documents. */
        readonly get: Method<typeof registry.notificationsConfigGetV1>;
        /** Set the notification levels of users, in the organization or in some documents. */
        readonly set: Method<typeof registry.notificationsConfigSetV1>;
      };
      /** Delete notifications by id, or all notifications of a document, a location or a user. */
      readonly delete: Method<typeof registry.notificationsDeleteV1>;
      /** Get the latest notifications in one answer, for clients that cannot read pages. */
      readonly get: Method<typeof registry.notificationsGetV1>;
      /** Change notifications, or mark them as read. */
      readonly update: Method<typeof registry.notificationsUpdateV1>;
    };
    readonly organizations: {
      readonly access: {
        readonly disablestate: {
          /** Disable or enable organizations. Changes in a disabled organization are refused. */
          readonly update: Method<typeof registry.organizationsAccessDisablestateUpdateV1>;
        };
      };
      /** Add organizations. */
      readonly add: Method<typeof registry.organizationsAddV1>;
      /** Delete organizations with everything in them. */
      readonly delete: Method<typeof registry.organizationsDeleteV1>;
      readonly documents: {
        readonly access: {
          readonly disablestate: {
            /** Disable or enable documents. Changes in a disabled document are refused. */
            readonly update: Method<typeof registry.documentsAccessDisablestateUpdateV1>;
          };
          /** Set the access type of documents. */
          readonly update: Method<typeof registry.documentsAccessUpdateV1>;
        };
        /** Add documents to an organization or to one of its folders. */
        readonly add: Method<typeof registry.documentsAddV1>;
        /** Delete documents with everything in them. */
        readonly delete: Method<typeof registry.documentsDeleteV1>;
        /** Get documents by id, or those of an organization or folder in pages, optionally filtered by metadata. */
        readonly get: Method<typeof registry.documentsGetV1>;
        readonly locations: {
          readonly data: {
            /** Delete all content at a location of a document, in every organization that has the document. */
            readonly delete: Method<typeof registry.organizationsDocumentsLocationsDataDeleteV1>;
          };
          /** Change a location of a document and of all content at this location, in one organization or in every organization that has the document. */
          readonly update: Method<typeof registry.organizationsDocumentsLocationsUpdateV1>;
        };
        /** Move all given documents, or none, into a folder or to the top level (`root`). */
        readonly move: Method<typeof registry.documentsMoveV1>;
        /** Change the names, access types and metadata of documents. */
        readonly update: Method<typeof registry.documentsUpdateV1>;
      };
      readonly folders: {
        readonly access: {
          /** Set the access type of folders, or make them inherit the access type of their parent. */
          readonly update: Method<typeof registry.foldersAccessUpdateV1>;
        };
        /** Create folders. */
        readonly add: Method<typeof registry.foldersAddV1>;
        /** Get the folders of an organization with their subfolders, or one folder with its subfolders. */
        readonly get: Method<typeof registry.foldersGetV1>;
        /** Rename folders, set their access types, and move them with everything in them. */
        readonly update: Method<typeof registry.foldersUpdateV1>;
      };
      /** Get organizations by id, or all organizations in pages. */
      readonly get: Method<typeof registry.organizationsGetV1>;
      /** Change organizations. Fields that are not sent stay as they are. */
      readonly update: Method<typeof registry.organizationsUpdateV1>;
      readonly usergroups: {
        /** Add user groups to an organization. */
        readonly add: Method<typeof registry.organizationsUsergroupsAddV1>;
        readonly users: {
          /** Add users to a user group. */
          readonly add: Method<typeof registry.organizationsUsergroupsUsersAddV1>;
          /** Delete the given users, or all users, from a user group. */
          readonly delete: Method<typeof registry.organizationsUsergroupsUsersDeleteV1>;
        };
      };
    };
    readonly users: {
      /** Add users to an organization, or to one of its documents or folders. */
      readonly add: Method<typeof registry.usersAddV1>;
      readonly data: {
        /** Delete all data of up to 30 users, in the given organizations or in all (GDPR). Further users of the list are ignored. */
        readonly delete: Method<typeof registry.usersDataDeleteV1> & {
          /** Get the progress of a deletion of users' data. */
          readonly status: Method<typeof registry.usersDataDeleteStatusV1>;
        };
        /** Get the data that a user made or that involves the user, in one organization or in all. */
        readonly get: Method<typeof registry.usersDataGetV1>;
      };
      /** Remove users, with their access and content, from an organization, a document or a folder. */
      readonly delete: Method<typeof registry.usersDeleteV1>;
      /** Get the users of an organization, a document, a folder, all documents, or some user groups. */
      readonly get: Method<typeof registry.usersGetV1>;
      /** Change the profiles of users, and their roles on an organization, document or folder. */
      readonly update: Method<typeof registry.usersUpdateV1>;
    };
    readonly workspace: {
      readonly domains: {
        /** Allow domains. */
        readonly add: Method<typeof registry.workspaceDomainsAddV1>;
        /** Remove allowed domains. */
        readonly delete: Method<typeof registry.workspaceDomainsDeleteV1>;
      };
    };
  };
  readonly v2: {
    readonly activities: {
      /** Add activity logs to a document, all of them or none. */
      readonly add: Method<typeof registry.activitiesAdd>;
      /** Delete activity logs by id, document or target entity. If several are given, all must match. Immutable activity logs cannot be deleted. */
      readonly delete: Method<typeof registry.activitiesDelete>;
      /** Get activity logs by id, or the activity logs of a document, a target entity or an organization in pages. */
      readonly get: Method<typeof registry.activitiesGet>;
      /** Replace fields of activity logs. Immutable activity logs cannot be changed. */
      readonly update: Method<typeof registry.activitiesUpdate>;
    };
    readonly agents: {
      /** Create a review agent. */
      readonly create: Method<typeof registry.agentsCreate>;
      /** Delete a review agent with all of its versions. */
      readonly delete: Method<typeof registry.agentsDelete>;
      /** Extract definitions of agents from a file. */
      readonly extract: Method<typeof registry.agentsExtract>;
      /** Get one review agent, or list the review agents. */
      readonly get: Method<typeof registry.agentsGet>;
      readonly groups: {
        /** Append review agents to a group. */
        readonly addAgents: Method<typeof registry.agentsGroupsAddAgents>;
        /** Create a group of review agents. */
        readonly create: Method<typeof registry.agentsGroupsCreate>;
        /** Delete a group of review agents, but not its agents. */
        readonly delete: Method<typeof registry.agentsGroupsDelete>;
        /** Get a group of review agents. */
        readonly get: Method<typeof registry.agentsGroupsGet>;
        /** List the groups of review agents. */
        readonly list: Method<typeof registry.agentsGroupsList>;
        /** Remove review agents from a group. */
        readonly removeAgents: Method<typeof registry.agentsGroupsRemoveAgents>;
        /** Change the name or the description of a group of review agents. */
        readonly update: Method<typeof registry.agentsGroupsUpdate>;
      };
      /** Rename, describe, enable or disable a review agent. This creates no new version. */
      readonly update: Method<typeof registry.agentsUpdate>;
      readonly version: {
        /** Change what a review agent does. This creates a new version. */
        readonly update: Method<typeof registry.agentsVersionUpdate>;
      };
      readonly versions: {
        /** List the versions of a review agent, newest first. */
        readonly list: Method<typeof registry.agentsVersionsList>;
        /** Remove the newest version of a review agent and restore the previous version. */
        readonly restore: Method<typeof registry.agentsVersionsRestore>;
      };
    };
    readonly auth: {
      /** Sign the answers of a permission provider. */
      readonly generate_signature: Method<typeof registry.generateSignature>;
      /** Create a token with which the browser of one user calls the service for 48 hours. */
      readonly generate_token: Method<typeof registry.generateToken>;
      readonly permissions: {
        /** Grant a user access to organizations, folders and documents. */
        readonly add: Method<typeof registry.permissionsAdd>;
        /** Get users' permissions on an organization, folders and documents. */
        readonly get: Method<typeof registry.permissionsGet>;
        /** Revoke the grants of a user on organizations, folders and documents. */
        readonly remove: Method<typeof registry.permissionsRemove>;
      };
      readonly token: {
        /** Create a user token. In this older form of generate_token, the organization is a property of the user. */
        readonly get: Method<typeof registry.tokenGet>;
      };
    };
    readonly commentannotations: {
      /** Add comment threads to a document, each with its first comments. */
      readonly add: Method<typeof registry.commentannotationsAdd>;
      readonly comments: {
        /** Add comments to an annotation, all of them or none. */
        readonly add: Method<typeof registry.commentannotationsCommentsAdd>;
        /** Delete comments of an annotation with their reactions: by id, by author, or all. An annotation without comments is deleted too. */
        readonly delete: Method<typeof registry.commentannotationsCommentsDelete>;
        /** Get comments of an annotation by id, or all comments in pages, in the order of their ids. */
        readonly get: Method<typeof registry.commentannotationsCommentsGet>;
        /** Change comments of an annotation: by id, by author, or all. */
        readonly update: Method<typeof registry.commentannotationsCommentsUpdate>;
      };
      readonly count: {
        /** Count the comment threads of documents that a user can see, and how many of them are unread. */
        readonly get: Method<typeof registry.commentannotationsCountGet>;
      };
      /** Delete some or all comment threads of a document, with their comments and reactions. */
      readonly delete: Method<typeof registry.commentannotationsDelete>;
      /** Get comment threads with their comments by id, or the threads of a document, a folder or an organization in pages. */
      readonly get: Method<typeof registry.commentannotationsGet>;
      /** Change comment threads of a document. */
      readonly update: Method<typeof registry.commentannotationsUpdate>;
      readonly views: {
        /** Record that a user has seen comment threads, so that they are read. */
        readonly add: Method<typeof registry.commentannotationsViewsAdd>;
      };
    };
    readonly crdt: {
      /** Add a collaborative editor to a document, with its data. */
      readonly add: Method<typeof registry.crdtAdd>;
      /** Delete some or all collaborative editors of a document with their data. */
      readonly delete: Method<typeof registry.crdtDelete>;
      /** Get the data of one or all collaborative editors of a document. */
      readonly get: Method<typeof registry.crdtGet>;
      /** Replace the data of a collaborative editor. Connected clients get the replacement as a small change. */
      readonly update: Method<typeof registry.crdtUpdate>;
      readonly updates: {
        /** Get the changes of a collaborative editor that a client does not have yet, as one update of Yjs. */
        readonly get: Method<typeof registry.crdtUpdatesGet>;
        /** Add an update of Yjs to a collaborative editor. */
        readonly push: Method<typeof registry.crdtUpdatesPush>;
      };
      readonly versions: {
        /** Keep the present state of a collaborative editor as a version. */
        readonly add: Method<typeof registry.crdtVersionsAdd>;
        /** Compare two versions of a collaborative editor, or a version with the present value. */
        readonly compare: Method<typeof registry.crdtVersionsCompare>;
        /** Delete versions of a collaborative editor. */
        readonly delete: Method<typeof registry.crdtVersionsDelete>;
        /** Get the versions of a collaborative editor, or one of them with its value. */
        readonly get: Method<typeof registry.crdtVersionsGet>;
        /** Give a collaborative editor the value of a version again. */
        readonly restore: Method<typeof registry.crdtVersionsRestore>;
        /** Change the name or the data of a version of a collaborative editor. */
        readonly update: Method<typeof registry.crdtVersionsUpdate>;
      };
    };
    readonly events: {
      /** Publish an event. The configuration decides whether webhooks, mails and notifications are sent for it. */
      readonly publish: Method<typeof registry.eventsPublish>;
    };
    readonly live: {
      /** Get the messages about changes of a document (hints) that a client missed. */
      readonly changes: Method<typeof registry.liveChanges>;
      /** Get the address, the token and the channels for live changes of a document. */
      readonly connect: Method<typeof registry.liveConnect>;
    };
    readonly livestate: {
      /** Send data to all users in a document, and store it under an id. */
      readonly broadcast: Method<typeof registry.livestateBroadcast>;
      /** Get live data by id, or all live data of a document in pages. */
      readonly get: Method<typeof registry.livestateGet>;
    };
    readonly memory: {
      readonly judgments: {
        /** Add review decisions to an organization or a document, or replace decisions that have the same ids. */
        readonly add: Method<typeof registry.memoryJudgmentsAdd>;
        /** Get the latest review decisions, or the decisions of a thread, with filters. */
        readonly query: Method<typeof registry.memoryJudgmentsQuery>;
      };
      /** Search past review decisions by meaning, or get the latest decisions or the decisions of a thread. */
      readonly search: Method<typeof registry.memorySearch>;
    };
    readonly notifications: {
      /** Notify the given users, or all users who have access to a document. */
      readonly add: Method<typeof registry.notificationsAdd>;
      readonly config: {
        /** Get the notification levels of a user, in the organization or in some documents. */
        readonly get: Method<typeof registry.notificationsConfigGet>;
        /** Set the notification levels of users, in the organization or in some documents. */
        readonly set: Method<typeof registry.notificationsConfigSet>;
      };
      readonly count: {
        /** Count the unread notifications of a user, for a badge. */
        readonly get: Method<typeof registry.notificationsCountGet>;
      };
      /** Delete notifications by id, or all notifications of a document, a location or a user. */
      readonly delete: Method<typeof registry.notificationsDelete>;
      /** Get notifications by id, or the notifications of a document, a user or an organization in pages. */
      readonly get: Method<typeof registry.notificationsGet>;
      /** Change notifications, or mark them as read. */
      readonly update: Method<typeof registry.notificationsUpdate>;
    };
    readonly organizations: {
      readonly access: {
        readonly disablestate: {
          /** Disable or enable organizations. Changes in a disabled organization are refused. */
          readonly update: Method<typeof registry.organizationsAccessDisablestateUpdate>;
        };
      };
      /** Add organizations. */
      readonly add: Method<typeof registry.organizationsAdd>;
      /** Delete organizations with everything in them. */
      readonly delete: Method<typeof registry.organizationsDelete>;
      readonly documents: {
        readonly access: {
          readonly disablestate: {
            /** Disable or enable documents. Changes in a disabled document are refused. */
            readonly update: Method<typeof registry.documentsAccessDisablestateUpdate>;
          };
          /** Set the access type of documents. */
          readonly update: Method<typeof registry.documentsAccessUpdate>;
        };
        /** Add documents to an organization or to one of its folders. */
        readonly add: Method<typeof registry.documentsAdd>;
        readonly count: {
          /** Count the documents of an organization: all, those directly in a folder, those in no folder, or those with given metadata. */
          readonly get: Method<typeof registry.documentsCountGet>;
        };
        /** Delete documents with everything in them. */
        readonly delete: Method<typeof registry.documentsDelete>;
        /** Get documents by id, or those of an organization or folder in pages, optionally filtered by metadata. */
        readonly get: Method<typeof registry.documentsGet>;
        /** Give a document, with all its content, another id. */
        readonly migrate: Method<typeof registry.documentsMigrate> & {
          /** Get the status of a migration of a document to another id. */
          readonly status: Method<typeof registry.documentsMigrateStatus>;
        };
        /** Move all given documents, or none, into a folder or to the top level (`root`). */
        readonly move: Method<typeof registry.documentsMove>;
        /** Change the names, access types and metadata of documents. */
        readonly update: Method<typeof registry.documentsUpdate>;
      };
      readonly folders: {
        readonly access: {
          /** Set the access type of folders, or make them inherit the access type of their parent. */
          readonly update: Method<typeof registry.foldersAccessUpdate>;
        };
        /** Create folders. */
        readonly add: Method<typeof registry.foldersAdd>;
        /** Delete a folder with everything in it. */
        readonly delete: Method<typeof registry.foldersDelete>;
        /** Get the folders of an organization with their subfolders, or one folder with its subfolders. */
        readonly get: Method<typeof registry.foldersGet>;
        /** Rename folders, set their access types, and move them with everything in them. */
        readonly update: Method<typeof registry.foldersUpdate>;
      };
      /** Get organizations by id, or all organizations in pages. */
      readonly get: Method<typeof registry.organizationsGet>;
      /** Change organizations. Fields that are not sent stay as they are. */
      readonly update: Method<typeof registry.organizationsUpdate>;
      readonly usergroups: {
        /** Add user groups to an organization. */
        readonly add: Method<typeof registry.organizationsUsergroupsAdd>;
        /** Get user groups by id, or the user groups of an organization in pages, optionally with their users. */
        readonly get: Method<typeof registry.organizationsUsergroupsGet>;
        readonly users: {
          /** Add users to a user group. */
          readonly add: Method<typeof registry.organizationsUsergroupsUsersAdd>;
          /** Delete the given users, or all users, from a user group. */
          readonly delete: Method<typeof registry.organizationsUsergroupsUsersDelete>;
        };
      };
    };
    readonly presence: {
      /** Show users as present in a document, for the time of their lease. */
      readonly add: Method<typeof registry.presenceAdd>;
      /** End the presence of users in a document. */
      readonly delete: Method<typeof registry.presenceDelete>;
      /** Get the users who are present in a document. */
      readonly get: Method<typeof registry.presenceGet>;
      /** Change the presence of users in a document, and renew their leases. */
      readonly update: Method<typeof registry.presenceUpdate>;
    };
    readonly reactions: {
      /** Add reactions to a document or to its comments, or add users to existing reactions. */
      readonly add: Method<typeof registry.reactionsAdd>;
      /** Delete reactions with all of their users. */
      readonly delete: Method<typeof registry.reactionsDelete>;
    };
    readonly recordings: {
      /** Add recordings to a document. */
      readonly add: Method<typeof registry.recordingsAdd>;
      /** Get recordings by id, or the recordings of a document or an organization in pages. */
      readonly get: Method<typeof registry.recordingsGet>;
    };
    readonly users: {
      /** Add users to an organization, or to one of its documents or folders. */
      readonly add: Method<typeof registry.usersAdd>;
      readonly count: {
        /** Count the users of an organization, a folder, one or several documents, or all documents. */
        readonly get: Method<typeof registry.usersCountGet>;
      };
      readonly data: {
        /** Delete all data of up to 30 users, in the given organizations or in all (GDPR). Further users of the list are ignored. */
        readonly delete: Method<typeof registry.usersDataDelete> & {
          /** Get the progress of a deletion of users' data. */
          readonly status: Method<typeof registry.usersDataDeleteStatus>;
        };
        /** Get the data that a user made or that involves the user, in one organization or in all. */
        readonly get: Method<typeof registry.usersDataGet>;
      };
      /** Remove users, with their access and content, from an organization, a document or a folder. */
      readonly delete: Method<typeof registry.usersDelete>;
      readonly doc: {
        /** Get the users of all documents of an organization, each user once. */
        readonly get: Method<typeof registry.usersDocGet>;
      };
      /** Get the users of an organization, a document, a folder, all documents, or some user groups. */
      readonly get: Method<typeof registry.usersGet>;
      readonly invitations: {
        /** Get the invitations of one e-mail address in an organization, by state and type. */
        readonly get: Method<typeof registry.usersInvitationsGet>;
      };
      readonly invite: {
        /** Invite an e-mail address to an organization, or to one of its documents or folders. */
        readonly add: Method<typeof registry.usersInviteAdd>;
        /** Get the invitations of an organization, its documents and folders. */
        readonly get: Method<typeof registry.usersInviteGet>;
        readonly pending: {
          /** Count the pending invitations of an organization, of one type. */
          readonly count: Method<typeof registry.usersInvitePendingCount>;
        };
        /** Store the answer to an invitation. An accepted one gives the user access. */
        readonly respond: Method<typeof registry.usersInviteRespond>;
      };
      /** Change the profiles of users, and their roles on an organization, document or folder. */
      readonly update: Method<typeof registry.usersUpdate>;
    };
    readonly workspace: {
      readonly activityconfig: {
        /** Get the configuration of activity logs. */
        readonly get: Method<typeof registry.workspaceActivityconfigGet>;
        /** Change the configuration of activity logs. Enabling them for the first time sets the default triggers. */
        readonly update: Method<typeof registry.workspaceActivityconfigUpdate>;
      };
      /** Accept or reject a request to allow a domain. */
      readonly additionalUrlRequest: Method<typeof registry.workspaceAdditionalUrlRequest>;
      readonly advancedwebhook: {
        readonly attempts: {
          /** List the attempts to deliver a message, oldest first. */
          readonly get: Method<typeof registry.workspaceAdvancedwebhookAttemptsGet>;
        };
        readonly endpoints: {
          /** Create an advanced webhook endpoint. */
          readonly create: Method<typeof registry.workspaceAdvancedwebhookEndpointsCreate>;
          /** Delete an advanced webhook endpoint. */
          readonly delete: Method<typeof registry.workspaceAdvancedwebhookEndpointsDelete>;
          /** List the advanced webhook endpoints. */
          readonly get: Method<typeof registry.workspaceAdvancedwebhookEndpointsGet>;
          /** Send failed messages to an endpoint again, if their events are of a given time or later. */
          readonly recover: Method<typeof registry.workspaceAdvancedwebhookEndpointsRecover>;
          readonly secret: {
            /** Get the signing secret of an advanced webhook endpoint. */
            readonly get: Method<typeof registry.workspaceAdvancedwebhookEndpointsSecretGet>;
            /** Replace the signing secret of an advanced webhook endpoint. */
            readonly rotate: Method<typeof registry.workspaceAdvancedwebhookEndpointsSecretRotate>;
          };
          /** Send a sample event to one advanced webhook endpoint. */
          readonly test: Method<typeof registry.workspaceAdvancedwebhookEndpointsTest>;
          /** Change an advanced webhook endpoint. */
          readonly update: Method<typeof registry.workspaceAdvancedwebhookEndpointsUpdate>;
        };
        readonly messages: {
          /** List messages with their deliveries, newest first. */
          readonly get: Method<typeof registry.workspaceAdvancedwebhookMessagesGet>;
          /** Send a message to an endpoint once more, immediately. */
          readonly resend: Method<typeof registry.workspaceAdvancedwebhookMessagesResend>;
        };
      };
      readonly advancedwebhookconfig: {
        /** Get the advanced webhook config. */
        readonly get: Method<typeof registry.workspaceAdvancedwebhookconfigGet>;
        /** Change the advanced webhook config. The first change enables advanced webhooks. */
        readonly update: Method<typeof registry.workspaceAdvancedwebhookconfigUpdate>;
      };
      readonly apikey: {
        /** Give an API key the settings of another one of the workspace. */
        readonly copy: Method<typeof registry.workspaceApikeyCopy>;
        /** Create an API key, optionally with settings. */
        readonly create: Method<typeof registry.workspaceApikeyCreate>;
        /** Rename an API key. */
        readonly update: Method<typeof registry.workspaceApikeyUpdate>;
      };
      readonly apikeyconfig: {
        /** Get the settings of the API key. */
        readonly get: Method<typeof registry.workspaceApikeyconfigGet>;
        /** Change the settings of the API key. */
        readonly update: Method<typeof registry.workspaceApikeyconfigUpdate>;
      };
      readonly apikeymetadata: {
        /** Get the settings of the API key. */
        readonly get: Method<typeof registry.workspaceApikeymetadataGet>;
        /** Change the settings of the API key. */
        readonly update: Method<typeof registry.workspaceApikeymetadataUpdate>;
      };
      readonly apikeys: {
        /** Get API keys by id, or all API keys in pages. */
        readonly get: Method<typeof registry.workspaceApikeysGet>;
      };
      readonly authtoken: {
        /** Get the auth token of the workspace. */
        readonly ensure: Method<typeof registry.workspaceAuthtokenEnsure>;
        /** Replace the auth tokens of an API key by a new one. On request, revokes all user tokens too. */
        readonly reset: Method<typeof registry.workspaceAuthtokenReset>;
      };
      readonly authtokens: {
        /** List the auth tokens of an API key. */
        readonly get: Method<typeof registry.workspaceAuthtokensGet>;
      };
      readonly chatconfig: {
        /** Get the chat configuration. */
        readonly get: Method<typeof registry.workspaceChatconfigGet>;
        /** Change the chat configuration. Enabling chat for the first time sets the default triggers. */
        readonly update: Method<typeof registry.workspaceChatconfigUpdate>;
      };
      /** Create a workspace with its first API key. */
      readonly create: Method<typeof registry.workspaceCreate>;
      readonly domains: {
        /** Allow domains. */
        readonly add: Method<typeof registry.workspaceDomainsAdd>;
        /** Remove allowed domains. */
        readonly delete: Method<typeof registry.workspaceDomainsDelete>;
        /** List the allowed domains. */
        readonly get: Method<typeof registry.workspaceDomainsGet>;
        /** Ask for a domain to be allowed, on behalf of a document. */
        readonly request: Method<typeof registry.workspaceDomainsRequest>;
      };
      readonly email: {
        /** Mail an owner a link that verifies the e-mail address. */
        readonly sendLoginLink: Method<typeof registry.workspaceEmailSendLoginLink>;
        /** Get whether an owner's e-mail address is verified. If it is, expired API keys work again. */
        readonly status: Method<typeof registry.workspaceEmailStatus>;
      };
      readonly emailconfig: {
        /** Get the e-mail configuration. */
        readonly get: Method<typeof registry.workspaceEmailconfigGet>;
        /** Change the e-mail configuration. Enabling e-mail for the first time sets the default triggers. */
        readonly update: Method<typeof registry.workspaceEmailconfigUpdate>;
      };
      /** Get a workspace and its API keys. */
      readonly get: Method<typeof registry.workspaceGet>;
      readonly notificationconfig: {
        /** Get the configuration of in-app notifications. */
        readonly get: Method<typeof registry.workspaceNotificationconfigGet>;
        /** Change the configuration of in-app notifications. Enabling them for the first time sets the default triggers. */
        readonly update: Method<typeof registry.workspaceNotificationconfigUpdate>;
      };
      readonly permissionproviderconfig: {
        /** Get the configuration of the permission provider. */
        readonly get: Method<typeof registry.workspacePermissionproviderconfigGet>;
        /** Change the configuration of the permission provider. */
        readonly update: Method<typeof registry.workspacePermissionproviderconfigUpdate>;
      };
      readonly requested: {
        readonly domains: {
          /** List the requests to allow domains. */
          readonly get: Method<typeof registry.workspaceRequestedDomainsGet>;
        };
      };
      readonly webhookconfig: {
        /** Get the basic webhook config. */
        readonly get: Method<typeof registry.workspaceWebhookconfigGet>;
        /** Change the basic webhook config. Enabling basic webhooks for the first time sets the default triggers. */
        readonly update: Method<typeof registry.workspaceWebhookconfigUpdate>;
      };
    };
  };
}

/** A method for every endpoint that is open to user tokens. */
export interface UserMethods {
  readonly v1: {
    readonly commentannotations: {
      /** Add comment threads to a document, each with its first comments. */
      readonly add: Method<typeof registry.commentannotationsAddV1>;
      readonly comments: {
        /** Add comments to an annotation, all of them or none. */
        readonly add: Method<typeof registry.commentannotationsCommentsAddV1>;
        /** Delete comments of an annotation with their reactions: by id, by author, or all. An annotation without comments is deleted too. */
        readonly delete: Method<typeof registry.commentannotationsCommentsDeleteV1>;
        /** Get comments of an annotation by id, or all comments in pages, in the order of their ids. */
        readonly get: Method<typeof registry.commentannotationsCommentsGetV1>;
        /** Change comments of an annotation: by id, by author, or all. */
        readonly update: Method<typeof registry.commentannotationsCommentsUpdateV1>;
      };
      readonly count: {
        /** Count the comment threads of documents that a user can see, and how many of them are unread. */
        readonly get: Method<typeof registry.commentannotationsCountGetV1>;
      };
      /** Delete some or all comment threads of a document, with their comments and reactions. */
      readonly delete: Method<typeof registry.commentannotationsDeleteV1>;
      /** Get comment threads with their comments by id, or the threads of a document, a folder or an organization in pages. */
      readonly get: Method<typeof registry.commentannotationsGetV1>;
      /** Change comment threads of a document. */
      readonly update: Method<typeof registry.commentannotationsUpdateV1>;
    };
    readonly livestate: {
      /** Send data to all users in a document, and store it under an id. */
      readonly broadcast: Method<typeof registry.livestateBroadcastV1>;
    };
    readonly notifications: {
      readonly config: {
        /** Get the notification levels of a user, in the organization or in some documents. */
        readonly get: Method<typeof registry.notificationsConfigGetV1>;
        /** Set the notification levels of users, in the organization or in some documents. */
        readonly set: Method<typeof registry.notificationsConfigSetV1>;
      };
      /** Get the latest notifications in one answer, for clients that cannot read pages. */
      readonly get: Method<typeof registry.notificationsGetV1>;
      /** Change notifications, or mark them as read. */
      readonly update: Method<typeof registry.notificationsUpdateV1>;
    };
    readonly organizations: {
      readonly documents: {
        /** Get documents by id, or those of an organization or folder in pages, optionally filtered by metadata. */
        readonly get: Method<typeof registry.documentsGetV1>;
      };
      readonly folders: {
        /** Get the folders of an organization with their subfolders, or one folder with its subfolders. */
        readonly get: Method<typeof registry.foldersGetV1>;
      };
    };
    readonly users: {
      /** Get the users of an organization, a document, a folder, all documents, or some user groups. */
      readonly get: Method<typeof registry.usersGetV1>;
    };
  };
  readonly v2: {
    readonly activities: {
      /** Get activity logs by id, or the activity logs of a document, a target entity or an organization in pages. */
      readonly get: Method<typeof registry.activitiesGet>;
    };
    readonly auth: {
      readonly permissions: {
        /** Get users' permissions on an organization, folders and documents. */
        readonly get: Method<typeof registry.permissionsGet>;
      };
    };
    readonly commentannotations: {
      /** Add comment threads to a document, each with its first comments. */
      readonly add: Method<typeof registry.commentannotationsAdd>;
      readonly comments: {
        /** Add comments to an annotation, all of them or none. */
        readonly add: Method<typeof registry.commentannotationsCommentsAdd>;
        /** Delete comments of an annotation with their reactions: by id, by author, or all. An annotation without comments is deleted too. */
        readonly delete: Method<typeof registry.commentannotationsCommentsDelete>;
        /** Get comments of an annotation by id, or all comments in pages, in the order of their ids. */
        readonly get: Method<typeof registry.commentannotationsCommentsGet>;
        /** Change comments of an annotation: by id, by author, or all. */
        readonly update: Method<typeof registry.commentannotationsCommentsUpdate>;
      };
      readonly count: {
        /** Count the comment threads of documents that a user can see, and how many of them are unread. */
        readonly get: Method<typeof registry.commentannotationsCountGet>;
      };
      /** Delete some or all comment threads of a document, with their comments and reactions. */
      readonly delete: Method<typeof registry.commentannotationsDelete>;
      /** Get comment threads with their comments by id, or the threads of a document, a folder or an organization in pages. */
      readonly get: Method<typeof registry.commentannotationsGet>;
      /** Change comment threads of a document. */
      readonly update: Method<typeof registry.commentannotationsUpdate>;
      readonly views: {
        /** Record that a user has seen comment threads, so that they are read. */
        readonly add: Method<typeof registry.commentannotationsViewsAdd>;
      };
    };
    readonly crdt: {
      /** Get the data of one or all collaborative editors of a document. */
      readonly get: Method<typeof registry.crdtGet>;
      readonly updates: {
        /** Get the changes of a collaborative editor that a client does not have yet, as one update of Yjs. */
        readonly get: Method<typeof registry.crdtUpdatesGet>;
        /** Add an update of Yjs to a collaborative editor. */
        readonly push: Method<typeof registry.crdtUpdatesPush>;
      };
      readonly versions: {
        /** Keep the present state of a collaborative editor as a version. */
        readonly add: Method<typeof registry.crdtVersionsAdd>;
        /** Compare two versions of a collaborative editor, or a version with the present value. */
        readonly compare: Method<typeof registry.crdtVersionsCompare>;
        /** Delete versions of a collaborative editor. */
        readonly delete: Method<typeof registry.crdtVersionsDelete>;
        /** Get the versions of a collaborative editor, or one of them with its value. */
        readonly get: Method<typeof registry.crdtVersionsGet>;
        /** Give a collaborative editor the value of a version again. */
        readonly restore: Method<typeof registry.crdtVersionsRestore>;
        /** Change the name or the data of a version of a collaborative editor. */
        readonly update: Method<typeof registry.crdtVersionsUpdate>;
      };
    };
    readonly live: {
      /** Get the messages about changes of a document (hints) that a client missed. */
      readonly changes: Method<typeof registry.liveChanges>;
      /** Get the address, the token and the channels for live changes of a document. */
      readonly connect: Method<typeof registry.liveConnect>;
    };
    readonly livestate: {
      /** Send data to all users in a document, and store it under an id. */
      readonly broadcast: Method<typeof registry.livestateBroadcast>;
      /** Get live data by id, or all live data of a document in pages. */
      readonly get: Method<typeof registry.livestateGet>;
    };
    readonly notifications: {
      readonly config: {
        /** Get the notification levels of a user, in the organization or in some documents. */
        readonly get: Method<typeof registry.notificationsConfigGet>;
        /** Set the notification levels of users, in the organization or in some documents. */
        readonly set: Method<typeof registry.notificationsConfigSet>;
      };
      readonly count: {
        /** Count the unread notifications of a user, for a badge. */
        readonly get: Method<typeof registry.notificationsCountGet>;
      };
      /** Get notifications by id, or the notifications of a document, a user or an organization in pages. */
      readonly get: Method<typeof registry.notificationsGet>;
      /** Change notifications, or mark them as read. */
      readonly update: Method<typeof registry.notificationsUpdate>;
    };
    readonly organizations: {
      readonly documents: {
        /** Get documents by id, or those of an organization or folder in pages, optionally filtered by metadata. */
        readonly get: Method<typeof registry.documentsGet>;
      };
      readonly folders: {
        /** Get the folders of an organization with their subfolders, or one folder with its subfolders. */
        readonly get: Method<typeof registry.foldersGet>;
      };
    };
    readonly presence: {
      /** Show users as present in a document, for the time of their lease. */
      readonly add: Method<typeof registry.presenceAdd>;
      /** End the presence of users in a document. */
      readonly delete: Method<typeof registry.presenceDelete>;
      /** Get the users who are present in a document. */
      readonly get: Method<typeof registry.presenceGet>;
      /** Change the presence of users in a document, and renew their leases. */
      readonly update: Method<typeof registry.presenceUpdate>;
    };
    readonly reactions: {
      /** Add reactions to a document or to its comments, or add users to existing reactions. */
      readonly add: Method<typeof registry.reactionsAdd>;
      /** Delete reactions with all of their users. */
      readonly delete: Method<typeof registry.reactionsDelete>;
    };
    readonly users: {
      /** Get the users of an organization, a document, a folder, all documents, or some user groups. */
      readonly get: Method<typeof registry.usersGet>;
    };
  };
}

export interface Operation {
  readonly path: string;
  /** The names of the properties that lead to the method, such as `v2`, `users` and `add`. */
  readonly names: readonly [string, ...string[]];
  /** Whether a repeated call with the same `Idempotency-Key` gets the answer of the first call. */
  readonly repeats: boolean;
  /** Whether a call may have a user token. */
  readonly forUsers: boolean;
}

export const operations: readonly Operation[] = [
  { path: '/v1/auth/token/get', names: ['v1', 'auth', 'token', 'get'], repeats: false, forUsers: false },
  { path: '/v1/commentannotations/add', names: ['v1', 'commentannotations', 'add'], repeats: true, forUsers: true },
  { path: '/v1/commentannotations/comments/add', names: ['v1', 'commentannotations', 'comments', 'add'], repeats: true, forUsers: true },
  { path: '/v1/commentannotations/comments/delete', names: ['v1', 'commentannotations', 'comments', 'delete'], repeats: true, forUsers: true },
  { path: '/v1/commentannotations/comments/get', names: ['v1', 'commentannotations', 'comments', 'get'], repeats: false, forUsers: true },
  { path: '/v1/commentannotations/comments/update', names: ['v1', 'commentannotations', 'comments', 'update'], repeats: true, forUsers: true },
  { path: '/v1/commentannotations/count/get', names: ['v1', 'commentannotations', 'count', 'get'], repeats: false, forUsers: true },
  { path: '/v1/commentannotations/delete', names: ['v1', 'commentannotations', 'delete'], repeats: true, forUsers: true },
  { path: '/v1/commentannotations/get', names: ['v1', 'commentannotations', 'get'], repeats: false, forUsers: true },
  { path: '/v1/commentannotations/update', names: ['v1', 'commentannotations', 'update'], repeats: true, forUsers: true },
  { path: '/v1/livestate/broadcast', names: ['v1', 'livestate', 'broadcast'], repeats: true, forUsers: true },
  { path: '/v1/notifications/add', names: ['v1', 'notifications', 'add'], repeats: true, forUsers: false },
  { path: '/v1/notifications/config/get', names: ['v1', 'notifications', 'config', 'get'], repeats: false, forUsers: true },
  { path: '/v1/notifications/config/set', names: ['v1', 'notifications', 'config', 'set'], repeats: true, forUsers: true },
  { path: '/v1/notifications/delete', names: ['v1', 'notifications', 'delete'], repeats: true, forUsers: false },
  { path: '/v1/notifications/get', names: ['v1', 'notifications', 'get'], repeats: false, forUsers: true },
  { path: '/v1/notifications/update', names: ['v1', 'notifications', 'update'], repeats: true, forUsers: true },
  { path: '/v1/organizations/access/disablestate/update', names: ['v1', 'organizations', 'access', 'disablestate', 'update'], repeats: true, forUsers: false },
  { path: '/v1/organizations/add', names: ['v1', 'organizations', 'add'], repeats: true, forUsers: false },
  { path: '/v1/organizations/delete', names: ['v1', 'organizations', 'delete'], repeats: true, forUsers: false },
  { path: '/v1/organizations/documents/access/disablestate/update', names: ['v1', 'organizations', 'documents', 'access', 'disablestate', 'update'], repeats: true, forUsers: false },
  { path: '/v1/organizations/documents/access/update', names: ['v1', 'organizations', 'documents', 'access', 'update'], repeats: true, forUsers: false },
  { path: '/v1/organizations/documents/add', names: ['v1', 'organizations', 'documents', 'add'], repeats: true, forUsers: false },
  { path: '/v1/organizations/documents/delete', names: ['v1', 'organizations', 'documents', 'delete'], repeats: true, forUsers: false },
  { path: '/v1/organizations/documents/get', names: ['v1', 'organizations', 'documents', 'get'], repeats: false, forUsers: true },
  { path: '/v1/organizations/documents/locations/data/delete', names: ['v1', 'organizations', 'documents', 'locations', 'data', 'delete'], repeats: true, forUsers: false },
  { path: '/v1/organizations/documents/locations/update', names: ['v1', 'organizations', 'documents', 'locations', 'update'], repeats: true, forUsers: false },
  { path: '/v1/organizations/documents/move', names: ['v1', 'organizations', 'documents', 'move'], repeats: true, forUsers: false },
  { path: '/v1/organizations/documents/update', names: ['v1', 'organizations', 'documents', 'update'], repeats: true, forUsers: false },
  { path: '/v1/organizations/folders/access/update', names: ['v1', 'organizations', 'folders', 'access', 'update'], repeats: true, forUsers: false },
  { path: '/v1/organizations/folders/add', names: ['v1', 'organizations', 'folders', 'add'], repeats: true, forUsers: false },
  { path: '/v1/organizations/folders/get', names: ['v1', 'organizations', 'folders', 'get'], repeats: false, forUsers: true },
  { path: '/v1/organizations/folders/update', names: ['v1', 'organizations', 'folders', 'update'], repeats: true, forUsers: false },
  { path: '/v1/organizations/get', names: ['v1', 'organizations', 'get'], repeats: false, forUsers: false },
  { path: '/v1/organizations/update', names: ['v1', 'organizations', 'update'], repeats: true, forUsers: false },
  { path: '/v1/organizations/usergroups/add', names: ['v1', 'organizations', 'usergroups', 'add'], repeats: true, forUsers: false },
  { path: '/v1/organizations/usergroups/users/add', names: ['v1', 'organizations', 'usergroups', 'users', 'add'], repeats: true, forUsers: false },
  { path: '/v1/organizations/usergroups/users/delete', names: ['v1', 'organizations', 'usergroups', 'users', 'delete'], repeats: true, forUsers: false },
  { path: '/v1/users/add', names: ['v1', 'users', 'add'], repeats: true, forUsers: false },
  { path: '/v1/users/data/delete', names: ['v1', 'users', 'data', 'delete'], repeats: true, forUsers: false },
  { path: '/v1/users/data/delete/status', names: ['v1', 'users', 'data', 'delete', 'status'], repeats: false, forUsers: false },
  { path: '/v1/users/data/get', names: ['v1', 'users', 'data', 'get'], repeats: false, forUsers: false },
  { path: '/v1/users/delete', names: ['v1', 'users', 'delete'], repeats: true, forUsers: false },
  { path: '/v1/users/get', names: ['v1', 'users', 'get'], repeats: false, forUsers: true },
  { path: '/v1/users/update', names: ['v1', 'users', 'update'], repeats: true, forUsers: false },
  { path: '/v1/workspace/domains/add', names: ['v1', 'workspace', 'domains', 'add'], repeats: true, forUsers: false },
  { path: '/v1/workspace/domains/delete', names: ['v1', 'workspace', 'domains', 'delete'], repeats: true, forUsers: false },
  { path: '/v2/activities/add', names: ['v2', 'activities', 'add'], repeats: true, forUsers: false },
  { path: '/v2/activities/delete', names: ['v2', 'activities', 'delete'], repeats: true, forUsers: false },
  { path: '/v2/activities/get', names: ['v2', 'activities', 'get'], repeats: false, forUsers: true },
  { path: '/v2/activities/update', names: ['v2', 'activities', 'update'], repeats: true, forUsers: false },
  { path: '/v2/agents/create', names: ['v2', 'agents', 'create'], repeats: true, forUsers: false },
  { path: '/v2/agents/delete', names: ['v2', 'agents', 'delete'], repeats: true, forUsers: false },
  { path: '/v2/agents/extract', names: ['v2', 'agents', 'extract'], repeats: false, forUsers: false },
  { path: '/v2/agents/get', names: ['v2', 'agents', 'get'], repeats: false, forUsers: false },
  { path: '/v2/agents/groups/add-agents', names: ['v2', 'agents', 'groups', 'addAgents'], repeats: true, forUsers: false },
  { path: '/v2/agents/groups/create', names: ['v2', 'agents', 'groups', 'create'], repeats: true, forUsers: false },
  { path: '/v2/agents/groups/delete', names: ['v2', 'agents', 'groups', 'delete'], repeats: true, forUsers: false },
  { path: '/v2/agents/groups/get', names: ['v2', 'agents', 'groups', 'get'], repeats: false, forUsers: false },
  { path: '/v2/agents/groups/list', names: ['v2', 'agents', 'groups', 'list'], repeats: false, forUsers: false },
  { path: '/v2/agents/groups/remove-agents', names: ['v2', 'agents', 'groups', 'removeAgents'], repeats: true, forUsers: false },
  { path: '/v2/agents/groups/update', names: ['v2', 'agents', 'groups', 'update'], repeats: true, forUsers: false },
  { path: '/v2/agents/update', names: ['v2', 'agents', 'update'], repeats: true, forUsers: false },
  { path: '/v2/agents/version/update', names: ['v2', 'agents', 'version', 'update'], repeats: true, forUsers: false },
  { path: '/v2/agents/versions/list', names: ['v2', 'agents', 'versions', 'list'], repeats: false, forUsers: false },
  { path: '/v2/agents/versions/restore', names: ['v2', 'agents', 'versions', 'restore'], repeats: true, forUsers: false },
  { path: '/v2/auth/generate_signature', names: ['v2', 'auth', 'generate_signature'], repeats: false, forUsers: false },
  { path: '/v2/auth/generate_token', names: ['v2', 'auth', 'generate_token'], repeats: true, forUsers: false },
  { path: '/v2/auth/permissions/add', names: ['v2', 'auth', 'permissions', 'add'], repeats: true, forUsers: false },
  { path: '/v2/auth/permissions/get', names: ['v2', 'auth', 'permissions', 'get'], repeats: false, forUsers: true },
  { path: '/v2/auth/permissions/remove', names: ['v2', 'auth', 'permissions', 'remove'], repeats: true, forUsers: false },
  { path: '/v2/auth/token/get', names: ['v2', 'auth', 'token', 'get'], repeats: true, forUsers: false },
  { path: '/v2/commentannotations/add', names: ['v2', 'commentannotations', 'add'], repeats: true, forUsers: true },
  { path: '/v2/commentannotations/comments/add', names: ['v2', 'commentannotations', 'comments', 'add'], repeats: true, forUsers: true },
  { path: '/v2/commentannotations/comments/delete', names: ['v2', 'commentannotations', 'comments', 'delete'], repeats: true, forUsers: true },
  { path: '/v2/commentannotations/comments/get', names: ['v2', 'commentannotations', 'comments', 'get'], repeats: false, forUsers: true },
  { path: '/v2/commentannotations/comments/update', names: ['v2', 'commentannotations', 'comments', 'update'], repeats: true, forUsers: true },
  { path: '/v2/commentannotations/count/get', names: ['v2', 'commentannotations', 'count', 'get'], repeats: false, forUsers: true },
  { path: '/v2/commentannotations/delete', names: ['v2', 'commentannotations', 'delete'], repeats: true, forUsers: true },
  { path: '/v2/commentannotations/get', names: ['v2', 'commentannotations', 'get'], repeats: false, forUsers: true },
  { path: '/v2/commentannotations/update', names: ['v2', 'commentannotations', 'update'], repeats: true, forUsers: true },
  { path: '/v2/commentannotations/views/add', names: ['v2', 'commentannotations', 'views', 'add'], repeats: true, forUsers: true },
  { path: '/v2/crdt/add', names: ['v2', 'crdt', 'add'], repeats: true, forUsers: false },
  { path: '/v2/crdt/delete', names: ['v2', 'crdt', 'delete'], repeats: true, forUsers: false },
  { path: '/v2/crdt/get', names: ['v2', 'crdt', 'get'], repeats: false, forUsers: true },
  { path: '/v2/crdt/update', names: ['v2', 'crdt', 'update'], repeats: true, forUsers: false },
  { path: '/v2/crdt/updates/get', names: ['v2', 'crdt', 'updates', 'get'], repeats: false, forUsers: true },
  { path: '/v2/crdt/updates/push', names: ['v2', 'crdt', 'updates', 'push'], repeats: true, forUsers: true },
  { path: '/v2/crdt/versions/add', names: ['v2', 'crdt', 'versions', 'add'], repeats: true, forUsers: true },
  { path: '/v2/crdt/versions/compare', names: ['v2', 'crdt', 'versions', 'compare'], repeats: false, forUsers: true },
  { path: '/v2/crdt/versions/delete', names: ['v2', 'crdt', 'versions', 'delete'], repeats: true, forUsers: true },
  { path: '/v2/crdt/versions/get', names: ['v2', 'crdt', 'versions', 'get'], repeats: false, forUsers: true },
  { path: '/v2/crdt/versions/restore', names: ['v2', 'crdt', 'versions', 'restore'], repeats: true, forUsers: true },
  { path: '/v2/crdt/versions/update', names: ['v2', 'crdt', 'versions', 'update'], repeats: true, forUsers: true },
  { path: '/v2/events/publish', names: ['v2', 'events', 'publish'], repeats: true, forUsers: false },
  { path: '/v2/live/changes', names: ['v2', 'live', 'changes'], repeats: false, forUsers: true },
  { path: '/v2/live/connect', names: ['v2', 'live', 'connect'], repeats: true, forUsers: true },
  { path: '/v2/livestate/broadcast', names: ['v2', 'livestate', 'broadcast'], repeats: true, forUsers: true },
  { path: '/v2/livestate/get', names: ['v2', 'livestate', 'get'], repeats: false, forUsers: true },
  { path: '/v2/memory/judgments/add', names: ['v2', 'memory', 'judgments', 'add'], repeats: true, forUsers: false },
  { path: '/v2/memory/judgments/query', names: ['v2', 'memory', 'judgments', 'query'], repeats: false, forUsers: false },
  { path: '/v2/memory/search', names: ['v2', 'memory', 'search'], repeats: false, forUsers: false },
  { path: '/v2/notifications/add', names: ['v2', 'notifications', 'add'], repeats: true, forUsers: false },
  { path: '/v2/notifications/config/get', names: ['v2', 'notifications', 'config', 'get'], repeats: false, forUsers: true },
  { path: '/v2/notifications/config/set', names: ['v2', 'notifications', 'config', 'set'], repeats: true, forUsers: true },
  { path: '/v2/notifications/count/get', names: ['v2', 'notifications', 'count', 'get'], repeats: false, forUsers: true },
  { path: '/v2/notifications/delete', names: ['v2', 'notifications', 'delete'], repeats: true, forUsers: false },
  { path: '/v2/notifications/get', names: ['v2', 'notifications', 'get'], repeats: false, forUsers: true },
  { path: '/v2/notifications/update', names: ['v2', 'notifications', 'update'], repeats: true, forUsers: true },
  { path: '/v2/organizations/access/disablestate/update', names: ['v2', 'organizations', 'access', 'disablestate', 'update'], repeats: true, forUsers: false },
  { path: '/v2/organizations/add', names: ['v2', 'organizations', 'add'], repeats: true, forUsers: false },
  { path: '/v2/organizations/delete', names: ['v2', 'organizations', 'delete'], repeats: true, forUsers: false },
  { path: '/v2/organizations/documents/access/disablestate/update', names: ['v2', 'organizations', 'documents', 'access', 'disablestate', 'update'], repeats: true, forUsers: false },
  { path: '/v2/organizations/documents/access/update', names: ['v2', 'organizations', 'documents', 'access', 'update'], repeats: true, forUsers: false },
  { path: '/v2/organizations/documents/add', names: ['v2', 'organizations', 'documents', 'add'], repeats: true, forUsers: false },
  { path: '/v2/organizations/documents/count/get', names: ['v2', 'organizations', 'documents', 'count', 'get'], repeats: false, forUsers: false },
  { path: '/v2/organizations/documents/delete', names: ['v2', 'organizations', 'documents', 'delete'], repeats: true, forUsers: false },
  { path: '/v2/organizations/documents/get', names: ['v2', 'organizations', 'documents', 'get'], repeats: false, forUsers: true },
  { path: '/v2/organizations/documents/migrate', names: ['v2', 'organizations', 'documents', 'migrate'], repeats: true, forUsers: false },
  { path: '/v2/organizations/documents/migrate/status', names: ['v2', 'organizations', 'documents', 'migrate', 'status'], repeats: false, forUsers: false },
  { path: '/v2/organizations/documents/move', names: ['v2', 'organizations', 'documents', 'move'], repeats: true, forUsers: false },
  { path: '/v2/organizations/documents/update', names: ['v2', 'organizations', 'documents', 'update'], repeats: true, forUsers: false },
  { path: '/v2/organizations/folders/access/update', names: ['v2', 'organizations', 'folders', 'access', 'update'], repeats: true, forUsers: false },
  { path: '/v2/organizations/folders/add', names: ['v2', 'organizations', 'folders', 'add'], repeats: true, forUsers: false },
  { path: '/v2/organizations/folders/delete', names: ['v2', 'organizations', 'folders', 'delete'], repeats: true, forUsers: false },
  { path: '/v2/organizations/folders/get', names: ['v2', 'organizations', 'folders', 'get'], repeats: false, forUsers: true },
  { path: '/v2/organizations/folders/update', names: ['v2', 'organizations', 'folders', 'update'], repeats: true, forUsers: false },
  { path: '/v2/organizations/get', names: ['v2', 'organizations', 'get'], repeats: false, forUsers: false },
  { path: '/v2/organizations/update', names: ['v2', 'organizations', 'update'], repeats: true, forUsers: false },
  { path: '/v2/organizations/usergroups/add', names: ['v2', 'organizations', 'usergroups', 'add'], repeats: true, forUsers: false },
  { path: '/v2/organizations/usergroups/get', names: ['v2', 'organizations', 'usergroups', 'get'], repeats: false, forUsers: false },
  { path: '/v2/organizations/usergroups/users/add', names: ['v2', 'organizations', 'usergroups', 'users', 'add'], repeats: true, forUsers: false },
  { path: '/v2/organizations/usergroups/users/delete', names: ['v2', 'organizations', 'usergroups', 'users', 'delete'], repeats: true, forUsers: false },
  { path: '/v2/presence/add', names: ['v2', 'presence', 'add'], repeats: true, forUsers: true },
  { path: '/v2/presence/delete', names: ['v2', 'presence', 'delete'], repeats: true, forUsers: true },
  { path: '/v2/presence/get', names: ['v2', 'presence', 'get'], repeats: false, forUsers: true },
  { path: '/v2/presence/update', names: ['v2', 'presence', 'update'], repeats: true, forUsers: true },
  { path: '/v2/reactions/add', names: ['v2', 'reactions', 'add'], repeats: true, forUsers: true },
  { path: '/v2/reactions/delete', names: ['v2', 'reactions', 'delete'], repeats: true, forUsers: true },
  { path: '/v2/recordings/add', names: ['v2', 'recordings', 'add'], repeats: true, forUsers: false },
  { path: '/v2/recordings/get', names: ['v2', 'recordings', 'get'], repeats: false, forUsers: false },
  { path: '/v2/users/add', names: ['v2', 'users', 'add'], repeats: true, forUsers: false },
  { path: '/v2/users/count/get', names: ['v2', 'users', 'count', 'get'], repeats: false, forUsers: false },
  { path: '/v2/users/data/delete', names: ['v2', 'users', 'data', 'delete'], repeats: true, forUsers: false },
  { path: '/v2/users/data/delete/status', names: ['v2', 'users', 'data', 'delete', 'status'], repeats: false, forUsers: false },
  { path: '/v2/users/data/get', names: ['v2', 'users', 'data', 'get'], repeats: false, forUsers: false },
  { path: '/v2/users/delete', names: ['v2', 'users', 'delete'], repeats: true, forUsers: false },
  { path: '/v2/users/doc/get', names: ['v2', 'users', 'doc', 'get'], repeats: false, forUsers: false },
  { path: '/v2/users/get', names: ['v2', 'users', 'get'], repeats: false, forUsers: true },
  { path: '/v2/users/invitations/get', names: ['v2', 'users', 'invitations', 'get'], repeats: false, forUsers: false },
  { path: '/v2/users/invite/add', names: ['v2', 'users', 'invite', 'add'], repeats: true, forUsers: false },
  { path: '/v2/users/invite/get', names: ['v2', 'users', 'invite', 'get'], repeats: false, forUsers: false },
  { path: '/v2/users/invite/pending/count', names: ['v2', 'users', 'invite', 'pending', 'count'], repeats: false, forUsers: false },
  { path: '/v2/users/invite/respond', names: ['v2', 'users', 'invite', 'respond'], repeats: true, forUsers: false },
  { path: '/v2/users/update', names: ['v2', 'users', 'update'], repeats: true, forUsers: false },
  { path: '/v2/workspace/activityconfig/get', names: ['v2', 'workspace', 'activityconfig', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/activityconfig/update', names: ['v2', 'workspace', 'activityconfig', 'update'], repeats: true, forUsers: false },
  { path: '/v2/workspace/additional-url-request', names: ['v2', 'workspace', 'additionalUrlRequest'], repeats: true, forUsers: false },
  { path: '/v2/workspace/advancedwebhook/attempts/get', names: ['v2', 'workspace', 'advancedwebhook', 'attempts', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/advancedwebhook/endpoints/create', names: ['v2', 'workspace', 'advancedwebhook', 'endpoints', 'create'], repeats: true, forUsers: false },
  { path: '/v2/workspace/advancedwebhook/endpoints/delete', names: ['v2', 'workspace', 'advancedwebhook', 'endpoints', 'delete'], repeats: true, forUsers: false },
  { path: '/v2/workspace/advancedwebhook/endpoints/get', names: ['v2', 'workspace', 'advancedwebhook', 'endpoints', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/advancedwebhook/endpoints/recover', names: ['v2', 'workspace', 'advancedwebhook', 'endpoints', 'recover'], repeats: true, forUsers: false },
  { path: '/v2/workspace/advancedwebhook/endpoints/secret/get', names: ['v2', 'workspace', 'advancedwebhook', 'endpoints', 'secret', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/advancedwebhook/endpoints/secret/rotate', names: ['v2', 'workspace', 'advancedwebhook', 'endpoints', 'secret', 'rotate'], repeats: true, forUsers: false },
  { path: '/v2/workspace/advancedwebhook/endpoints/test', names: ['v2', 'workspace', 'advancedwebhook', 'endpoints', 'test'], repeats: true, forUsers: false },
  { path: '/v2/workspace/advancedwebhook/endpoints/update', names: ['v2', 'workspace', 'advancedwebhook', 'endpoints', 'update'], repeats: true, forUsers: false },
  { path: '/v2/workspace/advancedwebhook/messages/get', names: ['v2', 'workspace', 'advancedwebhook', 'messages', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/advancedwebhook/messages/resend', names: ['v2', 'workspace', 'advancedwebhook', 'messages', 'resend'], repeats: true, forUsers: false },
  { path: '/v2/workspace/advancedwebhookconfig/get', names: ['v2', 'workspace', 'advancedwebhookconfig', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/advancedwebhookconfig/update', names: ['v2', 'workspace', 'advancedwebhookconfig', 'update'], repeats: true, forUsers: false },
  { path: '/v2/workspace/apikey/copy', names: ['v2', 'workspace', 'apikey', 'copy'], repeats: true, forUsers: false },
  { path: '/v2/workspace/apikey/create', names: ['v2', 'workspace', 'apikey', 'create'], repeats: true, forUsers: false },
  { path: '/v2/workspace/apikey/update', names: ['v2', 'workspace', 'apikey', 'update'], repeats: true, forUsers: false },
  { path: '/v2/workspace/apikeyconfig/get', names: ['v2', 'workspace', 'apikeyconfig', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/apikeyconfig/update', names: ['v2', 'workspace', 'apikeyconfig', 'update'], repeats: true, forUsers: false },
  { path: '/v2/workspace/apikeymetadata/get', names: ['v2', 'workspace', 'apikeymetadata', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/apikeymetadata/update', names: ['v2', 'workspace', 'apikeymetadata', 'update'], repeats: true, forUsers: false },
  { path: '/v2/workspace/apikeys/get', names: ['v2', 'workspace', 'apikeys', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/authtoken/ensure', names: ['v2', 'workspace', 'authtoken', 'ensure'], repeats: false, forUsers: false },
  { path: '/v2/workspace/authtoken/reset', names: ['v2', 'workspace', 'authtoken', 'reset'], repeats: true, forUsers: false },
  { path: '/v2/workspace/authtokens/get', names: ['v2', 'workspace', 'authtokens', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/chatconfig/get', names: ['v2', 'workspace', 'chatconfig', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/chatconfig/update', names: ['v2', 'workspace', 'chatconfig', 'update'], repeats: true, forUsers: false },
  { path: '/v2/workspace/create', names: ['v2', 'workspace', 'create'], repeats: false, forUsers: false },
  { path: '/v2/workspace/domains/add', names: ['v2', 'workspace', 'domains', 'add'], repeats: true, forUsers: false },
  { path: '/v2/workspace/domains/delete', names: ['v2', 'workspace', 'domains', 'delete'], repeats: true, forUsers: false },
  { path: '/v2/workspace/domains/get', names: ['v2', 'workspace', 'domains', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/domains/request', names: ['v2', 'workspace', 'domains', 'request'], repeats: true, forUsers: false },
  { path: '/v2/workspace/email/send-login-link', names: ['v2', 'workspace', 'email', 'sendLoginLink'], repeats: false, forUsers: false },
  { path: '/v2/workspace/email/status', names: ['v2', 'workspace', 'email', 'status'], repeats: false, forUsers: false },
  { path: '/v2/workspace/emailconfig/get', names: ['v2', 'workspace', 'emailconfig', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/emailconfig/update', names: ['v2', 'workspace', 'emailconfig', 'update'], repeats: true, forUsers: false },
  { path: '/v2/workspace/get', names: ['v2', 'workspace', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/notificationconfig/get', names: ['v2', 'workspace', 'notificationconfig', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/notificationconfig/update', names: ['v2', 'workspace', 'notificationconfig', 'update'], repeats: true, forUsers: false },
  { path: '/v2/workspace/permissionproviderconfig/get', names: ['v2', 'workspace', 'permissionproviderconfig', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/permissionproviderconfig/update', names: ['v2', 'workspace', 'permissionproviderconfig', 'update'], repeats: true, forUsers: false },
  { path: '/v2/workspace/requested/domains/get', names: ['v2', 'workspace', 'requested', 'domains', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/webhookconfig/get', names: ['v2', 'workspace', 'webhookconfig', 'get'], repeats: false, forUsers: false },
  { path: '/v2/workspace/webhookconfig/update', names: ['v2', 'workspace', 'webhookconfig', 'update'], repeats: true, forUsers: false },
];
