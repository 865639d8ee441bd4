import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { addDomains, type DomainChange, removeDomains } from './rules/domains.ts';
import { ConfigStore, defineConfig } from './configs/configStore.ts';
import type { Table } from '../table/table.ts';
import { storeCapability } from '../table/storeCapability.ts';

/**
 * The domains on which an API key's product runs: bare hosts, or `*.example.com` for everything beneath one. The domain
 * calls change them; a login link may lead to those of any API key of its workspace.
 */
export const AllowedDomainsEntity = defineConfig(
  'AllowedDomains',
  'The domains on which the product of an API key runs',
  z.object({ domains: z.array(z.string()) }),
);

export class AllowedDomains {
  readonly #configs: ConfigStore<{ domains: string[] }>;

  constructor(table: Table) {
    this.#configs = new ConfigStore(table, AllowedDomainsEntity);
  }

  /** The allowed domains, oldest first. */
  async list(tenant: string): Promise<string[]> {
    return (await this.#configs.get(tenant))?.domains ?? [];
  }

  /** Allows domains, in the form that `parseDomain` gives. RESOURCE_EXHAUSTED when there would be too many. */
  async add(tenant: string, domains: readonly string[]): Promise<DomainChange> {
    return this.#change(tenant, (present) => addDomains(present, domains));
  }

  /** Allows domains no longer. */
  async remove(tenant: string, domains: readonly string[]): Promise<DomainChange> {
    return this.#change(tenant, (present) => removeDomains(present, domains));
  }

  async #change(tenant: string, change: (present: readonly string[]) => DomainChange): Promise<DomainChange> {
    let made: DomainChange | undefined;
    await this.#configs.update(tenant, (stored) => (made = change(stored?.domains ?? [])));
    // The last one that was tried is the one that was written.
    return made as DomainChange;
  }
}

export const readDomains: Capability<Pick<AllowedDomains, 'list'>> = /* @__PURE__ */ storeCapability(AllowedDomains, [
  'GetItem',
]);

export const writeDomains: Capability<Pick<AllowedDomains, 'add' | 'remove'>> = /* @__PURE__ */ storeCapability(
  AllowedDomains,
  ['GetItem', 'PutItem'],
);
