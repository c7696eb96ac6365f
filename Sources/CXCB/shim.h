// libxcb as a Swift module, with the extensions RandR and X-Resource.
#pragma once
#include <stdlib.h>
#include <string.h>
#include <xcb/randr.h>
#include <xcb/res.h>
#include <xcb/xcb.h>

// Sends a message about a window to the clients that select the events of the mask; with none, to the client of the window.
static inline void xcb_send_message(
    xcb_connection_t *connection, xcb_window_t destination, uint32_t mask, xcb_window_t window, xcb_atom_t type,
    const uint32_t data[5]) {
  xcb_client_message_event_t event;
  memset(&event, 0, sizeof event);
  event.response_type = XCB_CLIENT_MESSAGE;
  event.format = 32;
  event.window = window;
  event.type = type;
  memcpy(event.data.data32, data, sizeof event.data.data32);
  xcb_send_event(connection, 0, destination, mask, (const char *)&event);
}

// Sends the root window a message of the window manager protocols (EWMH, ICCCM 4.1.4).
static inline void xcb_tell_manager(
    xcb_connection_t *connection, xcb_window_t root, xcb_window_t window, xcb_atom_t type, const uint32_t data[5]) {
  const uint32_t mask = XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY | XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT;
  xcb_send_message(connection, root, mask, window, type, data);
}

// Asks a window to close, as its window manager does (ICCCM 4.2.8.1). It must take part in that protocol.
static inline void xcb_ask_to_close(
    xcb_connection_t *connection, xcb_window_t window, xcb_atom_t protocols, xcb_atom_t delete_window) {
  const uint32_t data[5] = {delete_window, XCB_CURRENT_TIME};
  xcb_send_message(connection, window, XCB_EVENT_MASK_NO_EVENT, window, protocols, data);
}

// The number of the first event of RandR; 0 if the server does not have it.
static inline uint8_t xcb_randr_events(xcb_connection_t *connection) {
  const xcb_query_extension_reply_t *extension = xcb_get_extension_data(connection, &xcb_randr_id);
  return extension != NULL && extension->present ? extension->first_event : 0;
}

static inline void xcb_select_events(xcb_connection_t *connection, xcb_window_t window, uint32_t mask) {
  xcb_change_window_attributes(connection, window, XCB_CW_EVENT_MASK, &mask);
}
