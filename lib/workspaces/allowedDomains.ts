import * as z from 'zod';
import { defineConfig } from './configs/configStore.ts';

/**
 * A domain is a host without scheme and port, or `*.example.com` for all its subdomains. A login link may lead to the
 * domains of every API key in the owner's first workspace.
 */
export const AllowedDomainsEntity = defineConfig(
  'AllowedDomains',
  'The domains on which the product of an API key runs',
  { schema: z.object({ domains: z.array(z.string()) }), initial: { domains: [] } },
);
