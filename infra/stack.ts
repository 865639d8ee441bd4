import { type App, CfnOutput, Stack } from 'aws-cdk-lib';
import type { Code } from 'aws-cdk-lib/aws-lambda';
import { familyOf } from '../lib/endpoint.ts';
import type { Routed } from '../lib/page.ts';
import { ApiFunction, createInvoker } from './apiFunction.ts';
import { DEFAULT_FUNCTION } from './build.ts';
import { environmentValues, resourceArns } from './environment.ts';
import { FamilyStack } from './familyStack.ts';
import { createHttpApi } from './httpApi.ts';
import { createMonitoring } from './monitoring.ts';
import { createKey } from './secrets.ts';
import type { Settings } from './settings.ts';
import { createTable } from './table.ts';

export interface BackendProps {
  /** The endpoints and the pages. */
  readonly endpoints: readonly Routed[];
  /** What to upload for a function, by its id. */
  readonly code: (id: string) => Code;
  readonly settings: Settings;
}

/** The whole system. Everything about an endpoint comes from its declaration; nothing here names one. */
export class Backend extends Stack {
  readonly families: readonly FamilyStack[];

  constructor(scope: App, id: string, { endpoints, code, settings }: BackendProps) {
    super(scope, id, { description: 'Collaboration backend: HTTP API, functions and table' });
    const { logRetentionDays } = settings;
    const api = createHttpApi(this, this.stackName, logRetentionDays);
    const shared = {
      api,
      table: createTable(this),
      secrets: {
        masterKey: createKey(this, 'MasterKey', 'Seals what customers entrust to the service'),
        signingKey: createKey(this, 'SigningKey', 'Signs auth tokens'),
      },
    };
    const environment = environmentValues(shared, settings);
    const arns = resourceArns(shared, settings);

    const unmatched = new ApiFunction(this, 'Unmatched', {
      description: 'Answers unknown paths and wrong methods',
      code: code(DEFAULT_FUNCTION),
      environment: { SERVICE_NAME: environment.SERVICE_NAME },
      statements: [],
      logRetentionDays,
    });
    unmatched.addRoute(api.ref, '$default', createInvoker(this, [unmatched.function]));

    this.families = [...Map.groupBy(endpoints, ({ path }) => familyOf(path))]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([family, members]) => new FamilyStack(this, { family, endpoints: members, code, apiId: api.ref, environment, arns, logRetentionDays }));
    createMonitoring(this, { families: this.families, api, table: shared.table, settings });

    new CfnOutput(this, 'ApiUrl', { value: api.attrApiEndpoint });
    new CfnOutput(this, 'TableName', { value: shared.table.ref });
    new CfnOutput(this, 'MasterKeySecretArn', { value: shared.secrets.masterKey.ref });
    new CfnOutput(this, 'ServiceName', { value: settings.serviceName });
    new CfnOutput(this, 'SigningKeySecretArn', { value: shared.secrets.signingKey.ref });
  }
}
