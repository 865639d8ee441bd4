import type { OrganizationScope } from '../directory/organizationScope.ts';
import { messageChannels } from '../mail/rules/mailRecord.ts';
import { WaitingEntryEntity } from '../mail/waiting/entryStore.ts';
import { inParallel } from '../shared/inParallel.ts';
import { pages } from '../table/pages.ts';
import type { Table } from '../table/table.ts';

const PAGE = 1_000;

/** Purges what waits to be sent to a user, of activities up to `removedAt` (epoch ms). Its job then finds nothing. */
export async function purgeWaitingEntries(
  table: Table,
  user: OrganizationScope & { readonly userId: string },
  removedAt: number,
): Promise<void> {
  await inParallel(messageChannels, messageChannels.length, async (channel) => {
    const of = { ...user, channel };
    const read = (after: string | undefined) => table.query(WaitingEntryEntity, of, { limit: PAGE, after });
    for await (const { values } of pages(read)) {
      const purged = values.filter(({ createdAt }) => createdAt <= removedAt);
      await table.removeKeys(purged.map((entry) => WaitingEntryEntity.key({ ...of, ...entry })));
    }
  });
}
