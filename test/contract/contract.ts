import { checksOf, documentOf } from '../support/documented.ts';
import { endpoints } from './cases.ts';

export const openApi = documentOf(endpoints);

export const { documentedData, dataSchema, problems, expectDocumented, undocumented } = checksOf(openApi);
