// The whole client of the export API, for tests: its calls for jobs, and the listing of conversations.

import type { ExportApi, ExportApiAddress } from '#export-api/answers.ts';
import { createExportApiClient } from '#export-api/client.ts';
import type { ExchangeOptions } from '#export-api/exchange.ts';
import { createListingClient, type ListingClient } from '#export-api/listing-client.ts';
import { openAgent } from './open-agent.ts';
import { workerFile } from './program-file.ts';

export type WholeClient = ExportApi & ListingClient;

type WholeClientOptions = Omit<ExchangeOptions, 'agent'> &
  Partial<Pick<ExchangeOptions, 'agent'> & Pick<ExportApiAddress, 'project'>>;

export const createWholeClient = (options: WholeClientOptions): WholeClient => ({
  ...createExportApiClient({ agent: openAgent, project: undefined, ...options }),
  ...createListingClient({ agent: openAgent, ...options, program: workerFile('listing') }),
});
