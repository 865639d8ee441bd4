import { Duration, type Stack } from 'aws-cdk-lib';
import type { CfnApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Dashboard, GraphWidget, type IMetric, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import { indexNames } from '../lib/capability.ts';
import { RUNBOOK } from './alarmText.ts';
import type { FamilyStack } from './familyStack.ts';
import { apiMetric, faultsOf, functionMetric, tableMetric } from './metrics.ts';

export interface DashboardProps {
  readonly families: readonly FamilyStack[];
  readonly api: CfnApi;
  readonly table: CfnTable;
  readonly serviceName: string;
}

/** Is it healthy; then a row for each API family; then the table. */
export function createDashboard(stack: Stack, { families, api, table, serviceName }: DashboardProps): void {
  const dashboard = new Dashboard(stack, 'Dashboard', { defaultInterval: Duration.hours(3) });
  const heading = (markdown: string) => dashboard.addWidgets(new TextWidget({ width: 24, height: 1, markdown }));

  heading(`**Is it healthy?** Runbook: \`${RUNBOOK}\``);
  dashboard.addWidgets(
    graph(6, 'Requests', [apiMetric(api, 'Count', 'Sum', 'requests')]),
    graph(6, '4xx, 5xx', [apiMetric(api, '4xx', 'Sum', '4xx'), apiMetric(api, '5xx', 'Sum', '5xx')]),
    graph(6, 'Latency, ms', [apiMetric(api, 'Latency', 'p50', 'p50'), apiMetric(api, 'Latency', 'p99', 'p99')]),
    graph(6, 'Table: throttled', [tableMetric(table, 'ReadThrottleEvents', 'reads'), tableMetric(table, 'WriteThrottleEvents', 'writes')]),
  );

  for (const { family, functions } of families) {
    const each = (metricName: string, statistic: string) => functions.map((made) => (
      functionMetric(made.function, metricName, statistic, made.endpoint.path.slice(family.length + 2))
    ));
    heading(`**/${family}**`);
    dashboard.addWidgets(
      graph(6, 'Invocations', each('Invocations', 'Sum')),
      graph(6, 'Faults: answers of 500 and above', [faultsOf(family, serviceName, 'faults')]),
      graph(6, 'Crashes and time-outs', each('Errors', 'Sum')),
      graph(6, 'Duration p99, ms', each('Duration', 'p99')),
    );
  }

  heading('**Table**');
  const consumed = (kind: 'Read' | 'Write') => [
    tableMetric(table, `Consumed${kind}CapacityUnits`, 'table'),
    ...indexNames.map((index) => tableMetric(table, `Consumed${kind}CapacityUnits`, index, index)),
  ];
  dashboard.addWidgets(
    graph(8, 'Read units consumed', consumed('Read')),
    graph(8, 'Write units consumed', consumed('Write')),
    graph(8, 'Throttled', [
      tableMetric(table, 'ReadThrottleEvents', 'reads'),
      tableMetric(table, 'WriteThrottleEvents', 'writes'),
      ...indexNames.map((index) => tableMetric(table, 'WriteThrottleEvents', `writes to ${index}`, index)),
    ]),
  );
}

function graph(width: number, title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ width, height: 6, title, left, leftYAxis: { min: 0, showUnits: false } });
}
