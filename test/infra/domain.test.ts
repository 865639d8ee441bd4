import { beforeAll, expect, test } from '@jest/globals';
import { type Assembly, assemblyOf, functionBehind } from './assembly.ts';
import { certificateArn, domainName, greedy } from './endpoints.ts';

// rules.test.ts checks these settings against the rules of the CDK and cdk-nag.
let assembly: Assembly;
beforeAll(() => {
  assembly = assemblyOf([greedy], { domainName, certificateArn });
});

const publicUrl = ({ families }: Assembly) =>
  functionBehind(families.get('v2/everything')!, `POST ${greedy.path}`)[1].Properties.Environment.Variables.PUBLIC_URL;

test("the setting domainName maps the domain to the API's only stage and requires TLS 1.2", () => {
  expect(assembly.root.Resources.Domain).toMatchObject({
    Type: 'AWS::ApiGatewayV2::DomainName',
    Properties: {
      DomainName: domainName,
      DomainNameConfigurations: [
        { CertificateArn: certificateArn, EndpointType: 'REGIONAL', SecurityPolicy: 'TLS_1_2' },
      ],
    },
  });
  expect(assembly.root.Resources.DomainMapping).toMatchObject({
    Type: 'AWS::ApiGatewayV2::ApiMapping',
    Properties: { ApiId: { Ref: 'Api' }, DomainName: { Ref: 'Domain' }, Stage: { Ref: 'Stage' } },
  });
});

test('functions and the ApiUrl output use domainName, and other outputs contain the target of the DNS record', () => {
  expect(publicUrl(assembly)).toBe('https://api.example.com');
  expect(assembly.root.Outputs).toMatchObject({
    ApiUrl: { Value: 'https://api.example.com' },
    DomainTarget: { Value: { 'Fn::GetAtt': ['Domain', 'RegionalDomainName'] } },
    DomainTargetZone: { Value: { 'Fn::GetAtt': ['Domain', 'RegionalHostedZoneId'] } },
  });
});

test("without the setting domainName, the public URL is the API's address at AWS", () => {
  const without = assemblyOf([greedy]);
  expect(
    Object.values(without.root.Resources)
      .map(({ Type }) => Type)
      .filter((type) => /DomainName|ApiMapping/.test(type)),
  ).toEqual([]);
  expect(Object.keys(without.root.Outputs ?? {})).not.toContain('DomainTarget');
  expect(publicUrl(without)).toEqual({ 'Fn::GetAtt': ['Api', 'ApiEndpoint'] });
});
