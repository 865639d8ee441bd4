import { type RecordAccess, requiredContext } from '../../content/rules/threadAccess.ts';
import { isPrivate } from '../../directory/rules/visibility.ts';
import type { TriggerType } from '../../events/rules/catalogue.ts';
import type { EventPayload } from '../../events/rules/payload.ts';
import { isMailed } from '../../mail/rules/headlines.ts';
import type { ChatPart } from '../../mail/rules/mailRecord.ts';
import type { ChatConfig } from './chatConfig.ts';

export function isTriggered({ chatServiceConfig: { triggers } }: ChatConfig, event: string): boolean {
  return isMailed(event) && triggers?.[event satisfies TriggerType] === true;
}

export function usableParts({ chatServiceConfig }: ChatConfig, paused: ReadonlySet<ChatPart>): ReadonlySet<ChatPart> {
  const { botToken, channelWebhookUrl } = chatServiceConfig;
  const configured: ChatPart[] = [
    ...(botToken ? (['direct'] as const) : []),
    ...(channelWebhookUrl ? (['channel'] as const) : []),
  ];
  return new Set(configured.filter((part) => !paused.has(part)));
}

export function isForAllReaders(record: Pick<RecordAccess, 'thread' | 'accessFields'>): boolean {
  return !isPrivate(record.thread?.visibility) && requiredContext(record).length === 0;
}

/**
 * Whether a channel can get the event, as recorded. A comment of a thread that the service does not know may be private.
 */
export function mayBePosted({ source, audience }: EventPayload): boolean {
  if (!audience || (source === 'comment' && !audience.thread)) return false;
  return isForAllReaders(audience);
}
