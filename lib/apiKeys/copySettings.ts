import type * as z from 'zod';
import { type Capability, combine } from '../app/capability.ts';
import { ChatConfigEntity } from '../chat/chatConfig.ts';
import { ApiKeyEntity } from '../http/entities.ts';
import { ApiError } from '../shared/errors.ts';
import { tableWith } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { AdvancedWebhookConfigEntity, BasicWebhookConfigEntity } from '../webhooks/webhookConfigs.ts';
import { AllowedDomainsEntity } from '../workspaces/allowedDomains.ts';
import { ActivityConfigEntity } from '../workspaces/configs/activityConfig.ts';
import { ApiKeyConfigEntity } from '../workspaces/configs/apiKeyConfig.ts';
import { type ConfigEntity, ConfigStore } from '../workspaces/configs/configStore.ts';
import { EmailConfigEntity } from '../workspaces/configs/emailConfig.ts';
import { NotificationConfigEntity } from '../workspaces/configs/notificationConfig.ts';
import { PermissionProviderConfigEntity } from '../workspaces/configs/permissionProviderConfig.ts';
import { copyAiSettings, copyWithSecret } from './rules.ts';

export interface CopiedKeys {
  readonly sourceApiKey: string;
  readonly targetApiKey: string;
}

/**
 * Copies configurations and allowed domains. The target keeps its secrets, except a token whose URL changes. A service is off in the target if only the
 * source has a secret for it. Each configuration is written by itself: repeat a call that failed. Throws NOT_FOUND for
 * an API key that is not in the workspace, and ABORTED after too many conflicts.
 */
type CopySettings = (workspaceId: string, keys: CopiedKeys) => Promise<void>;

export const copySettings: Capability<CopySettings> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'PutItem']) },
  ({ table }) =>
    async (workspaceId, { sourceApiKey, targetApiKey }) => {
      const [source, target] = await table.getMany(ApiKeyEntity, [{ apiKey: sourceApiKey }, { apiKey: targetApiKey }]);
      if (source?.workspaceId !== workspaceId) throw unknownKey('Source', sourceApiKey);
      if (target?.workspaceId !== workspaceId) throw unknownKey('Target', targetApiKey);
      const same = <T>(config: T) => config;
      const copy = <S extends z.ZodObject>(
        entity: ConfigEntity<S>,
        merge: (from: z.output<S>, to: z.output<S>) => z.output<S>,
      ) => copyConfig(table, entity, sourceApiKey, targetApiKey, merge);
      await Promise.all([
        copy(AllowedDomainsEntity, same),
        copy(ActivityConfigEntity, same),
        copy(NotificationConfigEntity, same),
        copy(ApiKeyConfigEntity, copyAiSettings),
        copy(EmailConfigEntity, (from, to) =>
          copyWithSecret(from, to, 'useEmailService', 'emailServiceConfig', 'apiKey'),
        ),
        copy(ChatConfigEntity, (from, to) =>
          (['botToken', 'channelWebhookUrl'] as const).reduce(
            (copied, field) => copyWithSecret(copied, to, 'useChatService', 'chatServiceConfig', field),
            from,
          ),
        ),
        copy(PermissionProviderConfigEntity, (from, to) =>
          copyWithSecret(from, to, 'usePermissionProvider', 'permissionProviderConfig', 'authToken', [
            'permissionProviderUrl',
          ]),
        ),
        copyWebhooks(),
      ]);

      /** One after the other, because both write the revision of the webhook settings. */
      async function copyWebhooks() {
        await copy(AdvancedWebhookConfigEntity, same);
        await copy(BasicWebhookConfigEntity, (from, to) =>
          copyWithSecret(from, to, 'useWebhookService', 'webhookServiceConfig', 'authToken', [
            'rawNotificationUrl',
            'processedNotificationUrl',
          ]),
        );
      }
    },
);

async function copyConfig<S extends z.ZodObject>(
  table: Table,
  entity: ConfigEntity<S>,
  source: string,
  target: string,
  merge: (from: z.output<S>, to: z.output<S>) => z.output<S>,
): Promise<void> {
  const [stored, replaced] = await table.getMany(entity, [{ tenant: source }, { tenant: target }]);
  if (!stored && !replaced) return;
  const { _r, ...config } = stored ?? { ...entity.initial, _r: 0 };
  await new ConfigStore(table, entity).write(target, {}, (present) =>
    merge(config as z.output<S>, present ?? entity.initial),
  );
}

function unknownKey(role: 'Source' | 'Target', apiKey: string): ApiError {
  return new ApiError('NOT_FOUND', `${role} API key not found: ${apiKey}`);
}
