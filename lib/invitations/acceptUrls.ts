import { type Capability, combine } from '../app/capability.ts';
import { isAllowedLink } from '../content/rules/userLinks.ts';
import { invalid } from '../shared/errors.ts';
import { tableWith } from '../table/storeCapability.ts';
import { AllowedDomainsEntity } from '../workspaces/allowedDomains.ts';

/** Throws INVALID_ARGUMENT for a URL that is no link on an allowed domain of the API key (`isAllowedLink`). */
type RequireAcceptUrl = (tenant: string, acceptUrl: string | undefined) => Promise<void>;

export const requireAcceptUrl: Capability<RequireAcceptUrl> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['GetItem']) },
  ({ table }): RequireAcceptUrl =>
    async (tenant, acceptUrl) => {
      if (acceptUrl === undefined) return;
      const allowed = await table.get(AllowedDomainsEntity, { tenant });
      if (isAllowedLink(acceptUrl, allowed?.domains ?? [])) return;
      throw invalid({
        path: ['acceptUrl'],
        code: 'domain_not_allowed',
        message:
          'acceptUrl must be an http(s) URL without credentials on an allowed domain of the API key. To allow a domain, call /v2/workspace/domains/add',
      });
    },
);
