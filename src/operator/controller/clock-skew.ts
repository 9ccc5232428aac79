// How far the export API's clock is from ours, seen wherever an answer tells its time: an expiry is an instant of
// their clock, and a large difference is worth an alert before it costs a link. Changes no call and no answer.

import type { ExportApi } from '../../export-api/answers.ts';
import type { ExportApiSource } from '../../loop/ports.ts';
import type { Clock } from '../../runtime/clock.ts';

/** @param report host of the API, and its clock minus ours in ms; whole seconds are all that a `Date` header has */
export function watchSkew(
  source: ExportApiSource,
  clock: Clock,
  report: (host: string, skewMs: number) => void,
): ExportApiSource {
  return {
    connect: (baseUrl, key): ExportApi => {
      const api = source.connect(baseUrl, key);
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
