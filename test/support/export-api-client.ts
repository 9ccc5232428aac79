// The whole client of the export API, for tests: its calls for jobs, and the listing of conversations.

import type { ExportApi } from '../../src/export-api/answers.ts';
import { createExportApiClient } from '../../src/export-api/client.ts';
import type { ExchangeOptions } from '../../src/export-api/exchange.ts';
import { createListingClient, type ListingClient } from '../../src/export-api/listing-client.ts';
import { openAgent } from './open-agent.ts';
import { workerFile } from './program-file.ts';

export type WholeClient = ExportApi & ListingClient;

type WholeClientOptions = Omit<ExchangeOptions, 'agent'> & Partial<Pick<ExchangeOptions, 'agent'>>;

export const createWholeClient = (options: WholeClientOptions): WholeClient => ({
  ...createExportApiClient({ agent: openAgent, ...options }),
  ...createListingClient({ agent: openAgent, ...options, program: workerFile('listing') }),
});
