// Measures how far the export API's clock differs from the local one, by the `Date` header of its responses. Links
// expire by the export API's clock, so a large difference deserves an alert before a link expires. Changes no call and
// no response.

import type { ExportApi } from '#export-api/answers.ts';
import type { ExportApiSource } from '#operator/loop/ports.ts';
import type { Clock } from '#platform/runtime/clock.ts';

/** @param report receives the host and its clock minus the local one in ms; a `Date` header has whole seconds only */
export function watchSkew(
  source: ExportApiSource,
  clock: Clock,
  report: (host: string, skewMs: number) => void,
): ExportApiSource {
  return {
    connect: (address, key): ExportApi => {
      const { baseUrl } = address;
      const api = source.connect(address, key);
      return {
        ...api,
        issueLink: async (request, signal) => {
          const sentAt = clock.now();
          const issued = await api.issueLink(request, signal);
          const { serverDate } = issued;
          if (serverDate !== undefined && URL.canParse(baseUrl)) {
            report(new URL(baseUrl).host, serverDate - (sentAt + clock.now()) / 2);
          }
          return issued;
        },
      };
    },
  };
}
