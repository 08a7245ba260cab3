// Shortest routes on a weighted graph, with Dijkstra's algorithm.

#include <algorithm>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <optional>
#include <queue>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace transit {

using NodeId = std::size_t;
constexpr double kUnreachable = std::numeric_limits<double>::infinity();

struct Edge {
    NodeId target;
    double minutes;
};

struct Route {
    std::vector<NodeId> stops;
    double minutes = 0.0;
};

class Network {
public:
    NodeId add_stop(std::string name) {
        auto [it, inserted] = ids_.try_emplace(name, names_.size());
        if (inserted) {
            names_.push_back(std::move(name));
            edges_.emplace_back();
        }
        return it->second;
    }

    void connect(const std::string& from, const std::string& to, double minutes) {
        if (minutes < 0.0) {
            throw std::invalid_argument("travel time must not be negative");
        }
        const NodeId a = add_stop(from);
        const NodeId b = add_stop(to);
        edges_[a].push_back({b, minutes});
        edges_[b].push_back({a, minutes});
    }

    [[nodiscard]] std::optional<NodeId> find(const std::string& name) const {
        if (const auto it = ids_.find(name); it != ids_.end()) {
            return it->second;
        }
        return std::nullopt;
    }

    [[nodiscard]] std::string_view name(NodeId id) const { return names_.at(id); }

    [[nodiscard]] std::optional<Route> shortest(NodeId start, NodeId goal) const {
        std::vector<double> best(names_.size(), kUnreachable);
        std::vector<NodeId> previous(names_.size(), start);

        using Candidate = std::pair<double, NodeId>;
        std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> frontier;

        best[start] = 0.0;
        frontier.emplace(0.0, start);
        while (!frontier.empty()) {
            const auto [distance, here] = frontier.top();
            frontier.pop();
            if (here == goal) {
                return trace(previous, start, goal, distance);
            }
            if (distance > best[here]) {
                continue;  // a better way here was found in the meantime
            }
            for (const Edge& edge : edges_[here]) {
                const double total = distance + edge.minutes;
                if (total < best[edge.target]) {
                    best[edge.target] = total;
                    previous[edge.target] = here;
                    frontier.emplace(total, edge.target);
                }
            }
        }
        return std::nullopt;
    }

private:
    static Route trace(const std::vector<NodeId>& previous, NodeId start, NodeId goal, double minutes) {
        Route route{{goal}, minutes};
        while (route.stops.back() != start) {
            route.stops.push_back(previous[route.stops.back()]);
        }
        std::reverse(route.stops.begin(), route.stops.end());
        return route;
    }

    std::unordered_map<std::string, NodeId> ids_;
    std::vector<std::string> names_;
    std::vector<std::vector<Edge>> edges_;
};

}  // namespace transit

int main() {
    transit::Network tram;
    tram.connect("Harbour", "Market", 4.5);
    tram.connect("Market", "Åkerplats", 3.0);
    tram.connect("Harbour", "Old Mill", 2.25);
    tram.connect("Old Mill", "Åkerplats", 6.5);
    tram.connect("Åkerplats", "Університет", 1.75);
    tram.add_stop("Island");

    const auto start = tram.find("Harbour").value();
    for (const char* goal : {"Університет", "Old Mill", "Island"}) {
        std::cout << std::left << std::setw(14) << goal << ": ";
        if (const auto route = tram.shortest(start, tram.find(goal).value())) {
            for (const auto stop : route->stops) {
                std::cout << tram.name(stop) << (stop == route->stops.back() ? "" : " → ");
            }
            std::cout << " (" << std::fixed << std::setprecision(2) << route->minutes << " min)\n";
        } else {
            std::cout << "no route\n";
        }
    }
}
