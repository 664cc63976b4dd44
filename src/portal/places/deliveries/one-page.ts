/** As in log.css: there is no room beside the list. */
export const isOnePage = () => matchMedia('(max-width: 64rem)').matches;
