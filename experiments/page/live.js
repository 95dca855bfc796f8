// While a session is tuned its page is written again and again (`amdahl tune --html`): this one takes itself up anew, at the
// place where the reader was, and not under their hands.

const readerIsBusy = () =>
  document.hidden || TABLE.open.size > 0 || TABLE.page > 0 || TABLE.sort !== "id" || Object.values(TABLE.filters).some(Boolean) ||
  document.querySelector("details[open]") || !getSelection().isCollapsed;

function keepFresh(every) {
  if (!every) return;
  const place = `amdahl ${location.pathname}`;
  try {
    scrollTo(0, Number(sessionStorage.getItem(place) || 0));
  } catch { /* a browser that keeps nothing for files */ }
  const note = document.getElementById("live");
  note.hidden = false;
  const look = () => {
    const busy = readerIsBusy();
    note.textContent = busy ? "Being tuned. The page waits with its next reload until rows are closed and filters are cleared." :
      `Being tuned. The page loads itself again every ${every} seconds.`;
    if (busy) return;
    try {
      sessionStorage.setItem(place, String(scrollY));
    } catch { /* as above */ }
    location.reload();
  };
  note.textContent = `Being tuned. The page loads itself again every ${every} seconds.`;
  setInterval(look, every * 1000);
}
