import type { SystemModel } from '../assembly/model.ts';
import type { DemoUser } from '../console/demoDocument.ts';
import { localConsole } from '../console/localConsole.ts';
import type { LogFile } from '../functions/functionLog.ts';
import type { FunctionPool } from '../functions/functionPool.ts';
import { accessLine } from '../gateway/accessLog.ts';
import type { GatewayOptions, LocalRequest } from '../gateway/gateway.ts';
import type { GatewayResponse } from '../gateway/httpApiResponse.ts';
import { dashboardSnapshot } from '../metrics/dashboardSnapshot.ts';
import type { Measurements } from '../metrics/measurements.ts';
import type { MetricStore } from '../metrics/metricStore.ts';
import type { Parts } from '../parts.ts';
import { runSavedQuery } from '../queries/runSavedQuery.ts';
import type { LocalSettings } from '../settings.ts';

interface RequestsOptions {
  readonly settings: LocalSettings;
  readonly dataDir: string;
  readonly model: SystemModel;
  readonly metrics: MetricStore;
  readonly measurements: Measurements;
  readonly accessLog: LogFile;
  readonly pool: FunctionPool;
  readonly parts: Parts;
  readonly issueToken: (user: DemoUser) => Promise<string>;
  readonly slack: (request: LocalRequest) => Promise<GatewayResponse>;
}

/** Returns how the gateway answers: the API by functions, the local pages by the console. */
export function requestHandlers(options: RequestsOptions): GatewayOptions {
  const { settings, dataDir, model, metrics, measurements, accessLog, pool, parts, issueToken, slack } = options;
  return {
    routes: model.routes,
    invoke: (fn, payload) => pool.invoke(fn, payload),
    local: localConsole({
      snapshotOf: (minutes) => dashboardSnapshot(model.monitoring, metrics, { now: Date.now(), minutes }),
      parts,
      queries: {
        saved: model.savedQueries,
        run: (query, values, since) => runSavedQuery(dataDir, query, values, since),
      },
      title: `${settings.serviceName} on this machine`,
      dataDir,
      issueToken,
      slack,
    }),
    measure: (status, milliseconds) => measurements.recordRequest(status, milliseconds),
    logAccess: (context) => accessLog.write(accessLine(model.accessLog, context)),
  };
}
