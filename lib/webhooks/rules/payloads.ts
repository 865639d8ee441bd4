import type { EventPayload } from '../../events/rules/payload.ts';
import type { NotificationLevel } from '../../events/rules/recipients.ts';
import { isObject } from '../../shared/collections.ts';
import { advancedActionType, basicActionType } from './actionTypes.ts';
import { protectData } from './dataProtection.ts';
import { fillTemplates } from './templates.ts';

export interface DeliverableEvent {
  /** All deliveries of an event have this id. */
  readonly eventId: string;
  readonly event: string;
  readonly createdAt: number;
  readonly payload: EventPayload;
}

interface ProtectionConfig {
  readonly enableDataProtection?: boolean | undefined;
}

export type AudienceLevels = Readonly<Record<string, Readonly<Record<'inbox' | 'email', NotificationLevel>>>>;

/** Only for the processed URL of basic webhooks. */
export interface Enrichment {
  readonly organizationName?: string | undefined;
  readonly documentName?: string | undefined;
  readonly recipients?: readonly Recipient[];
}

export interface Recipient {
  readonly userId: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

export interface BasicOptions {
  readonly config: ProtectionConfig;
  readonly accessDeniedUsers?: readonly string[];
  readonly enrichment?: Enrichment | undefined;
}

/** The timestamp is the time of the event, because deliveries can arrive in any order. */
export function advancedPayload(
  event: DeliverableEvent,
  { config, levels }: { config: ProtectionConfig; levels?: AudienceLevels | undefined },
): string {
  const { source, data } = event.payload;
  return JSON.stringify({
    event: event.event,
    actionType: advancedActionType(event.event),
    source,
    webhookId: event.eventId,
    timestamp: new Date(event.createdAt).toISOString(),
    data: config.enableDataProtection ? protectData(data) : data,
    ...(levels && { usersDocumentNotificationsConfig: levels }),
  });
}

export function basicPayload(
  event: DeliverableEvent,
  { config, accessDeniedUsers = [], enrichment }: BasicOptions,
): string {
  const { source, data: stored } = event.payload;
  const enriched = enrichment ? enrich(stored, enrichment) : stored;
  const { actionUser, metadata, ...fields } = config.enableDataProtection ? protectData(enriched) : enriched;
  return JSON.stringify({
    // The data cannot replace the envelope's fields.
    ...fields,
    webhookId: event.eventId,
    actionType: basicActionType(event.event),
    notificationSource: source,
    timestamp: new Date(event.createdAt).toISOString(),
    actionUser,
    metadata: flattenMetadata(asObject(metadata)),
    ...(source === 'comment' && { assigned: isSet(asObject(fields.commentAnnotation).assignedTo) }),
    ...((source === 'comment' || source === 'crdt') && { accessDeniedUsers }),
  });
}

function enrich(
  data: EventPayload['data'],
  { organizationName, documentName, recipients }: Enrichment,
): Record<string, unknown> {
  const filled = fillTemplates(data);
  const { organization, document, ...metadata } = asObject(filled.metadata);
  return {
    ...filled,
    metadata: {
      ...metadata,
      ...(organization !== undefined && {
        organization: { ...asObject(organization), ...(organizationName !== undefined && { organizationName }) },
      }),
      ...(document !== undefined && {
        document: { ...asObject(document), ...(documentName !== undefined && { documentName }) },
      }),
    },
    ...(recipients && { recipients }),
  };
}

function flattenMetadata({ organization, document, ...metadata }: Record<string, unknown>): object {
  const { organizationId, organizationName, ...organizationMetadata } = asObject(organization);
  const { documentId, documentName, ...documentMetadata } = asObject(document);
  return {
    ...metadata,
    clientOrganizationId: organizationId,
    organizationId,
    organizationName,
    clientDocumentId: documentId,
    documentId,
    documentName,
    ...(Object.keys(organizationMetadata).length > 0 && { organizationMetadata }),
    ...(Object.keys(documentMetadata).length > 0 && { documentMetadata }),
  };
}

function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
