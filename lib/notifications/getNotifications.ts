import { findOrganization } from '../directory/organizations.ts';
import { distinct } from '../shared/collections.ts';
import { limits, list, optional } from '../shared/schema.ts';
import { type NotificationFilter, notificationReader } from './notificationReader.ts';
import { NotificationId, selectorFields } from './rules.ts';

export const getNotifications = {
  auth: 'apiKey',
  kind: 'read',
  message: 'Notification(s) retrieved successfully.',
  errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
  uses: { organizations: findOrganization, notifications: notificationReader },
} as const;

export const filterFields = {
  ...selectorFields,
  notificationIds: optional(list(NotificationId, limits.readIds)).describe('Only the notifications with these ids.'),
};

/** Ids are distinct and sorted, so that a page token fits equal filters. */
export function filterOf({ documentId, locationId, userId, notificationIds }: NotificationFilter): NotificationFilter {
  return { documentId, locationId, userId, notificationIds: notificationIds && distinct(notificationIds).sort() };
}

export const exampleNotification = {
  id: 'signature-1',
  notificationSource: 'custom',
  notificationSourceData: { contractId: 'nda-2026' },
  actionUser: { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
  displayHeadlineMessageTemplate: '{actionUser} asks {recipientUser} to sign {contract}',
  displayHeadlineMessageTemplateData: {
    actionUser: { userId: 'ada', name: 'Ada Lovelace' },
    recipientUser: { userId: 'grace', name: 'Grace Hopper' },
    contract: 'the NDA',
  },
  displayBodyMessage: 'It is due on Friday.',
  metadata: { apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', organizationId: 'acme', documentId: 'nda' },
  notifyUsers: { '9f528ceb410182ebd9d490172948f11f': true },
  notifyUsersByUserId: { '15e5c87b18c1289d45bb4a72961b58e8': true },
  notifyAll: false,
  timestamp: 1767225600000,
};
